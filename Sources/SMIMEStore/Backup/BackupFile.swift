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
