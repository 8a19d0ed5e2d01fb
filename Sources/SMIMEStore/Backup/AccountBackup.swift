import Foundation
import PKIX

/// The contents of an account backup, as JSON inside the encrypted file.
///
/// Each certificate is stored once, and referred to by its fingerprint. Private keys are in PKCS#12 files within the JSON,
/// so that other programs can also read them from the decrypted content. Times are seconds since 1970.
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
    /// Certificates in DER, each once. The certificates of identities are in their PKCS#12 files as well.
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
            throw KeystoreError.malformedBackup(path: path, detail: "it holds something else than accounts")
        }
    }
}
