import Foundation
import LibCrypto
import PKIX

/// The key that seals all private keys. Each of the store's protectors seals the store key.
///
/// A protector can be changed without sealing the private keys again.
struct StoreKey: Sendable {
    private static let purpose = Array("smime store key under key file".utf8)

    private let key: SealingKey

    /// Creates the store key for a store in `folder`, with a key file as its protector.
    ///
    /// If there is a key already, such as that of a credential or a key program, or a key file of an interrupted attempt,
    /// uses that key. The caller holds `StoreLock`.
    static func create(in folder: StoreFolder) throws -> Protectors {
        let file = KeyFile(folder.location)
        let fileKey: SealingKey
        if let found = try file.key() {
            fileKey = found
        } else {
            fileKey = try SealingKey.generate()
            try file.create(fileKey)
        }
        return Protectors(keyFile: try generate().sealed(under: fileKey))
    }

    static func generate() throws(CMSError) -> StoreKey { StoreKey(key: try SealingKey.generate()) }

    private init(key: SealingKey) { self.key = key }

    /// Opens the store key with the key file of `location`, or with the file that is about to replace it.
    ///
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`, `.cannotOpen`, `.corrupt`
    init(sealed: [UInt8], location: StoreLocation) throws(KeystoreError) {
        let file = KeyFile(location)
        let current = try file.key()
        if let current, let key = Self.open(sealed, under: current) {
            self.init(key: key)
        } else if let successor = try file.successor(), let key = Self.open(sealed, under: successor) {
            self.init(key: key)
        } else if let moved = try file.key(), let key = Self.open(sealed, under: moved) {
            // Another process has renamed the successor to the key file.
            self.init(key: key)
        } else {
            throw current == nil ? KeystoreError.keyMissing(path: file.path) : .keyMismatch(path: file.path)
        }
    }

    /// Opens the store key with a passphrase; nil if the passphrase is wrong.
    ///
    /// - Throws: `.corrupt`
    init?(wrapped: [UInt8], passphrase: borrowing Passphrase, location: StoreLocation) throws(KeystoreError) {
        do throws(CMSError) {
            key = try SealingKey(wrapped: wrapped, passphrase: passphrase)
        } catch .wrongPassphrase {
            return nil
        } catch {
            throw KeystoreError.corrupt(
                path: location.database,
                detail: "the store key that the passphrase opens: \(error)"
            )
        }
    }

    /// The store key that `agent` has in memory for the passphrase's protector; nil if no agent has it.
    init?(wrapped: [UInt8], keptBy agent: KeyAgentClient) {
        guard let name = try? KeyAgentClient.name(of: wrapped), let bytes = agent.key(name, count: SealingKey.count),
            let key = bytes.withBytes({ SealingKey($0) })
        else { return nil }
        self.init(key: key)
    }

    /// Passes the bytes of the store key to `body`, for a key agent. The bytes must not be copied elsewhere.
    func withBytes<Value>(_ body: (Span<UInt8>) throws -> Value) rethrows -> Value {
        try key.withBytes(body)
    }

    /// Whether `fileKey` opens the store key in `sealed`.
    static func opens(_ sealed: [UInt8], under fileKey: SealingKey) -> Bool { open(sealed, under: fileKey) != nil }

    /// Seals the store key for the key file's protector.
    func sealed(under fileKey: SealingKey) throws(CMSError) -> [UInt8] {
        try key.withBytes { bytes throws(CMSError) in try fileKey.seal(bytes, authenticating: Self.purpose) }
    }

    /// Seals the store key for a passphrase's protector. This takes a tenth of a second.
    func wrapped(by passphrase: borrowing Passphrase) throws(CMSError) -> [UInt8] { try key.wrapped(by: passphrase) }

    /// Seals the private key of a certificate, bound to its fingerprint.
    func seal(_ key: PrivateKey, for fingerprint: Fingerprint) throws -> [UInt8] {
        try key.sealed(under: self.key, authenticating: fingerprint.bytes)
    }

    /// Opens a private key that `seal` sealed for the same certificate.
    func open(_ sealed: [UInt8], for fingerprint: Fingerprint) throws -> PrivateKey {
        try PrivateKey(sealed: sealed, under: key, authenticating: fingerprint.bytes)
    }

    /// Seals a private key, as returned by `seal`, with `other` instead.
    func reseal(_ sealed: [UInt8], for fingerprint: Fingerprint, with other: StoreKey) throws -> [UInt8] {
        try key.withOpened(sealed, authenticating: fingerprint.bytes) { secret in
            try other.key.seal(secret, authenticating: fingerprint.bytes)
        }
    }

    private static func open(_ sealed: [UInt8], under fileKey: SealingKey) -> SealingKey? {
        do { return try fileKey.withOpened(sealed, authenticating: purpose) { SealingKey($0) } } catch { return nil }
    }
}
