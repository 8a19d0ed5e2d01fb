public import CMS
import Foundation
import Synchronization

/// Gives the passphrase of a store when a private key is needed, and not before.
///
/// It may block, and is asked again, with `attempt` counted from 0, after a wrong one; the fifth wrong one ends the call that
/// needs the key with `.wrongPassphrase`. Every answer costs a derivation of some 100 ms. Nil says that there is none, or
/// no other one: who has one answer only gives it once.
///
/// ```swift
/// { attempt in attempt == 0 ? Passphrase(bytes) : nil }
/// ```
public typealias PassphraseSource = @Sendable (_ attempt: Int) throws -> Passphrase?

/// Opens the store key once for all who need it.
final class StoreUnlocker: Sendable {
    /// How many wrong passphrases end the asking.
    private static let maximumAttempts = 5

    private let location: StoreLocation
    private let source: PassphraseSource?
    /// Asking for a passphrase and deriving a key block a thread, which must be none of the few cooperative ones.
    private let queue = DispatchQueue(label: "smime store key")
    private let opened = Mutex<(protectors: Protectors, key: StoreKey)?>(nil)

    init(_ location: StoreLocation, source: PassphraseSource?) {
        self.location = location
        self.source = source
    }

    /// The store key that `protectors` seal.
    ///
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.locked`, `.wrongPassphrase`, `.permissions`, `.corrupt`
    func key(for protectors: Protectors) async throws(KeystoreError) -> StoreKey {
        if let key = known(protectors) { return key }
        let result: Result<StoreKey, KeystoreError> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: Result { () throws(KeystoreError) in try open(protectors) })
            }
        }
        return try result.get()
    }

    private func known(_ protectors: Protectors) -> StoreKey? {
        opened.withLock { $0?.protectors == protectors ? $0?.key : nil }
    }

    private func open(_ protectors: Protectors) throws(KeystoreError) -> StoreKey {
        if let key = known(protectors) { return key }
        let key = try openAnew(protectors)
        opened.withLock { $0 = (protectors, key) }
        return key
    }

    /// The key file first, which asks nobody.
    private func openAnew(_ protectors: Protectors) throws(KeystoreError) -> StoreKey {
        guard let sealed = protectors.keyFile else {
            guard let wrapped = protectors.passphrase else {
                throw KeystoreError.corrupt(path: location.database, detail: "has no protector")
            }
            return try ask(for: wrapped)
        }
        do throws(KeystoreError) {
            return try StoreKey(sealed: sealed, location: location)
        } catch {
            guard let wrapped = protectors.passphrase, source != nil else { throw error }
            return try ask(for: wrapped)
        }
    }

    private func ask(for wrapped: [UInt8]) throws(KeystoreError) -> StoreKey {
        var attempt = 0
        while attempt < Self.maximumAttempts, let passphrase = try passphrase(attempt) {
            let key = try StoreKey(wrapped: wrapped, passphrase: passphrase, location: location)
            if let key { return key }
            attempt += 1
        }
        throw attempt == 0
            ? KeystoreError.locked(path: location.path, why: nil) : .wrongPassphrase(path: location.path)
    }

    private func passphrase(_ attempt: Int) throws(KeystoreError) -> Passphrase? {
        do { return try source?(attempt) } catch {
            throw KeystoreError.locked(path: location.path, why: String(describing: error))
        }
    }
}
