import Foundation
import LibCrypto
import PKIX

/// The container of an account backup: one file, encrypted and authenticated under a passphrase.
///
/// The file consists of the line `smime-backup-1`, the key sealed with the passphrase (scrypt, `SealingKey.wrapped`), the
/// content sealed with that key (AES-256-GCM; everything before the content is authenticated too), and the SHA-256 of all
/// of this. The digest does not protect against attackers; it distinguishes a damaged file from a wrong passphrase.
struct BackupFile {
    private static let family = Array("smime-backup-".utf8)
    private static let version = 1
    private static let magic = family + Array("\(version)\n".utf8)
    private static let digestCount = 32
    /// The maximum size of a file to read, in bytes.
    static let maximumCount = 512 << 20

    /// Whether `bytes` begin like a backup of any format version.
    static func isBackup(_ bytes: [UInt8]) -> Bool { bytes.starts(with: family) }

    /// Encrypts `content` into a file that only `passphrase` opens.
    static func seal(_ content: [UInt8], passphrase: borrowing Passphrase) throws -> [UInt8] {
        let key = try SealingKey.generate()
        let header = magic + (try key.wrapped(by: passphrase))
        let sealed = header + (try key.seal(content, authenticating: header))
        return sealed + (try DigestAlgorithm.sha256.digest(sealed))
    }

    /// Decrypts the content of a file that `seal` returned.
    ///
    /// - Parameter path: the file's name in errors.
    /// - Throws: `KeystoreError.malformedBackup`, `.newerBackup`, `.wrongPassphrase`
    static func open(_ bytes: [UInt8], passphrase: borrowing Passphrase, path: String) throws(KeystoreError) -> [UInt8]
    {
        try checkVersion(bytes, path)
        let headerCount = magic.count + SealingKey.wrappedCount
        guard bytes.count >= headerCount + SealingKey.overhead + digestCount else {
            throw KeystoreError.malformedBackup(path: path, detail: "it is cut off")
        }
        let sealed = Array(bytes.dropLast(digestCount))
        guard let digest = try? DigestAlgorithm.sha256.digest(sealed), digest == Array(bytes.suffix(digestCount)) else {
            throw KeystoreError.malformedBackup(path: path, detail: "it is damaged")
        }
        let header = Array(sealed.prefix(headerCount))
        let key: SealingKey
        do throws(CMSError) {
            key = try SealingKey(wrapped: Array(header.dropFirst(magic.count)), passphrase: passphrase)
        } catch .wrongPassphrase {
            throw KeystoreError.wrongPassphrase(path: path)
        } catch {
            throw KeystoreError.malformedBackup(path: path, detail: "\(error)")
        }
        do {
            return try key.open(Array(sealed.dropFirst(headerCount)), authenticating: header).copied()
        } catch {
            throw KeystoreError.malformedBackup(path: path, detail: "it was changed")
        }
    }

    private static func checkVersion(_ bytes: [UInt8], _ path: String) throws(KeystoreError) {
        guard bytes.starts(with: family), let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let found = Int(String(decoding: bytes[family.count..<end], as: UTF8.self)), found > 0
        else { throw KeystoreError.malformedBackup(path: path, detail: "it is not an account backup") }
        guard found <= version else { throw KeystoreError.newerBackup(path: path, found: found, known: version) }
    }
}

/// The contents of an account backup, as JSON inside the encrypted file.
///
/// Certificates are referred to by their fingerprints. Private keys are in PKCS#12 files within the JSON, so that other
/// programs can also read them from the decrypted content. Times are seconds since 1970.
struct AccountBackup: Codable, Sendable {
    /// The format version that this program writes. New optional keys do not change the version.
    static let schema = 1

    struct Account: Codable, Sendable {
        let address: String
        let name: String?
        let headerConfidentiality: String?
        /// The cipher that a rule sets for mail from the account; nil if no rule does.
        let cipher: String?
        let created: Int
        let aliases: [String]
        let identities: [Identity]
        /// PKCS#12 files with the private keys of all identities, encrypted with the passphrase of the backup.
        let keys: [Data]
    }

    struct Identity: Codable, Sendable {
        let fingerprint: Fingerprint
        let assigned: Bool
        let pinned: Bool
        let added: Int
    }

    struct Recipient: Codable, Sendable {
        let address: String
        let fingerprint: Fingerprint
        let source: String
        let sourceDetail: String?
        let firstSeen: Int
        let lastSeen: Int
        let trust: String
        let capabilities: Data?
        let capabilitiesTime: Int?
    }

    struct Rule: Codable, Sendable {
        let side: String
        let pattern: String
        let sign: String?
        let encrypt: String?
        let override: String?
        let missing: String?
        let protected: String?
        let decryptAtGateway: String?
    }

    struct Authority: Codable, Sendable {
        let fingerprint: Fingerprint
        /// When the certificate became a trust anchor; nil if it is not an anchor.
        let anchored: Int?
    }

    let schema: Int
    let created: Int
    let accounts: [Account]
    /// The certificates of recipients and CAs in DER, each once. Those of identities are in the PKCS#12 files of the
    /// accounts, and here only if they also belong to recipients or CAs.
    let certificates: [Data]
    /// Anchors and intermediates, against which certificates are validated.
    let authorities: [Authority]
    let revocationLists: [Data]
    let recipients: [Recipient]
    let policy: [Rule]

    /// Only the format version, which is read first.
    private struct Version: Decodable {
        let schema: Int
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Decodes the JSON that `encoded` returned.
    ///
    /// - Throws: `KeystoreError.malformedBackup`, `.newerBackup`
    static func decoded(_ bytes: [UInt8], path: String) throws(KeystoreError) -> AccountBackup {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data(bytes)
        guard let version = try? decoder.decode(Version.self, from: data) else {
            throw KeystoreError.malformedBackup(path: path, detail: "it holds no account")
        }
        guard version.schema <= schema else {
            throw KeystoreError.newerBackup(path: path, found: version.schema, known: schema)
        }
        do { return try decoder.decode(AccountBackup.self, from: data) } catch {
            throw KeystoreError.malformedBackup(path: path, detail: "it contains something other than accounts")
        }
    }
}
