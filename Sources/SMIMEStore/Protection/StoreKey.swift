import Foundation
import LibCrypto
import PKIX

/// The key that all private keys are sealed with, itself sealed by each of its protectors.
///
/// A protector can be changed without touching a private key.
struct StoreKey: Sendable {
    private static let purpose = Array("smime store key under key file".utf8)

    private let key: SealingKey

    /// A new store key for a store in `folder` with a key file as its protector.
    ///
    /// The key file of an interrupted attempt is used again. Call under `StoreLock`.
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

    /// Opens the store key with the key file of `location`, or the one that is about to take its place.
    ///
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`, `.corrupt`
    init(sealed: [UInt8], location: StoreLocation) throws(KeystoreError) {
        let file = KeyFile(location)
        let current = try file.key()
        if let current, let key = Self.open(sealed, under: current) {
            self.init(key: key)
        } else if let successor = try file.successor(), let key = Self.open(sealed, under: successor) {
            self.init(key: key)
        } else if let moved = try file.key(), let key = Self.open(sealed, under: moved) {
            // Another process has moved the successor to the place of the key file.
            self.init(key: key)
        } else {
            throw current == nil ? KeystoreError.keyMissing(path: file.path) : .keyMismatch(path: file.path)
        }
    }

    /// Opens the store key with a passphrase; nil if it is not the right one.
    ///
    /// - Throws: `.corrupt`
    init?(wrapped: [UInt8], passphrase: borrowing Passphrase, location: StoreLocation) throws(KeystoreError) {
        do throws(CMSError) {
            key = try SealingKey(wrapped: wrapped, passphrase: passphrase)
        } catch .wrongPassphrase {
            return nil
        } catch {
            throw KeystoreError.corrupt(path: location.database, detail: "the store key under a passphrase: \(error)")
        }
    }

    /// The store key that `agent` keeps for a passphrase's protector; nil if it keeps none.
    init?(wrapped: [UInt8], keptBy agent: KeyAgentClient) {
        guard let name = try? KeyAgentClient.name(of: wrapped), let bytes = agent.key(name, count: SealingKey.count),
            let key = bytes.withBytes({ SealingKey($0) })
        else { return nil }
        self.init(key: key)
    }

    /// Lends the bytes of the store key, for an agent that keeps it; they must not escape.
    func withBytes<Value>(_ body: (Span<UInt8>) throws -> Value) rethrows -> Value {
        try key.withBytes(body)
    }

    /// Whether `fileKey` gives back the store key in `sealed`.
    static func opens(_ sealed: [UInt8], under fileKey: SealingKey) -> Bool { open(sealed, under: fileKey) != nil }

    /// The store key as the key file's protector keeps it.
    func sealed(under fileKey: SealingKey) throws(CMSError) -> [UInt8] {
        try key.withBytes { bytes throws(CMSError) in try fileKey.seal(bytes, authenticating: Self.purpose) }
    }

    /// The store key as a passphrase's protector keeps it. Takes a tenth of a second.
    func wrapped(by passphrase: borrowing Passphrase) throws(CMSError) -> [UInt8] { try key.wrapped(by: passphrase) }

    /// Seals the private key of a certificate, bound to its fingerprint.
    func seal(_ key: PrivateKey, for fingerprint: Fingerprint) throws -> [UInt8] {
        try key.sealed(under: self.key, authenticating: fingerprint.bytes)
    }

    /// Opens what `seal` made for the same certificate.
    func open(_ sealed: [UInt8], for fingerprint: Fingerprint) throws -> PrivateKey {
        try PrivateKey(sealed: sealed, under: key, authenticating: fingerprint.bytes)
    }

    /// The result of `seal`, sealed by `other` instead.
    func reseal(_ sealed: [UInt8], for fingerprint: Fingerprint, with other: StoreKey) throws -> [UInt8] {
        try key.withOpened(sealed, authenticating: fingerprint.bytes) { secret in
            try other.key.seal(secret, authenticating: fingerprint.bytes)
        }
    }

    private static func open(_ sealed: [UInt8], under fileKey: SealingKey) -> SealingKey? {
        do { return try fileKey.withOpened(sealed, authenticating: purpose) { SealingKey($0) } } catch { return nil }
    }
}
