import Foundation
package import LibCrypto
import Synchronization

/// Provides the passphrase of a store. Called only when a private key is needed.
///
/// The function may block. After a wrong passphrase it is called again, with `attempt` counted from 0. The fifth wrong
/// passphrase ends the call that needs the private key with `.wrongPassphrase`. Each answer costs a key derivation of some
/// 100 ms. Nil means that there is no passphrase, or no further passphrase: a source with a single passphrase returns it
/// only at the first attempt.
///
/// ```swift
/// { attempt in attempt == 0 ? Passphrase(bytes) : nil }
/// ```
package typealias PassphraseSource = @Sendable (_ attempt: Int) throws -> Passphrase?

/// Opens the store key once for all calls that need it.
final class StoreUnlocker: Sendable {
    /// The number of wrong passphrases after which the call fails.
    private static let maximumAttempts = 5

    private struct State {
        /// The source of the passphrase; nil if there is none.
        var source: PassphraseSource?
        var opened: (protectors: Protectors, key: StoreKey)?
        /// The sealed store key that no passphrase of the source opened.
        var rejectedKey: [UInt8]?
        var isClosed = false
    }

    private let location: StoreLocation
    /// Prompting for a passphrase and deriving a key block a thread, which must not be one of Swift's cooperative threads.
    private let queue = DispatchQueue(label: "smime store key")
    private let state: Mutex<State>

    init(_ location: StoreLocation, source: PassphraseSource?) {
        self.location = location
        state = Mutex(State(source: source))
    }

    /// Opens the store key that `protectors` seal.
    ///
    /// - Throws: `.closed`, `.keyMissing`, `.keyMismatch`, `.locked`, `.wrongPassphrase`, `.permissions`, `.cannotOpen`,
    ///   `.corrupt`
    func key(for protectors: Protectors) async throws(KeystoreError) -> StoreKey {
        if let key = try known(protectors) { return key }
        let result: Result<StoreKey, KeystoreError> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: Result { () throws(KeystoreError) in try open(protectors) })
            }
        }
        return try result.get()
    }

    /// Removes the key and the passphrase source. Later calls throw `.closed`.
    func close() { state.withLock { $0 = State(isClosed: true) } }

    private func known(_ protectors: Protectors) throws(KeystoreError) -> StoreKey? {
        try checkOpen()
        return state.withLock { $0.opened?.protectors == protectors ? $0.opened?.key : nil }
    }

    private func checkOpen() throws(KeystoreError) {
        guard !state.withLock({ $0.isClosed }) else { throw .closed(path: location.database) }
    }

    private func open(_ protectors: Protectors) throws(KeystoreError) -> StoreKey {
        if let key = try known(protectors) { return key }
        let key: StoreKey
        do throws(KeystoreError) { key = try openAnew(protectors) } catch {
            // A closed store has no passphrase source. The error must say that the store is closed.
            try checkOpen()
            throw error
        }
        state.withLock { if !$0.isClosed { $0.opened = (protectors, key) } }
        return key
    }

    /// Tries the key file first, which needs no prompt.
    private func openAnew(_ protectors: Protectors) throws(KeystoreError) -> StoreKey {
        guard let sealed = protectors.keyFile else {
            guard let wrapped = protectors.passphrase else {
                throw KeystoreError.corrupt(
                    path: location.database,
                    detail: "neither a key file nor a passphrase opens its private keys"
                )
            }
            return try ask(for: wrapped)
        }
        do throws(KeystoreError) {
            return try StoreKey(sealed: sealed, location: location)
        } catch {
            guard let wrapped = protectors.passphrase, state.withLock({ $0.source != nil }) else { throw error }
            return try ask(for: wrapped)
        }
    }

    private func ask(for wrapped: [UInt8]) throws(KeystoreError) -> StoreKey {
        if let agent = location.keyAgent, let key = StoreKey(wrapped: wrapped, keptBy: agent) { return key }
        var attempt = 0
        while attempt < Self.maximumAttempts, let passphrase = try passphrase(attempt) {
            let key = try StoreKey(wrapped: wrapped, passphrase: passphrase, location: location)
            if let key { return key }
            attempt += 1
        }
        // A source with a single passphrase has none left at a later call. The passphrase was wrong nevertheless.
        let isWrong = state.withLock { state in
            if attempt > 0 { state.rejectedKey = wrapped }
            return state.rejectedKey == wrapped
        }
        throw isWrong ? KeystoreError.wrongPassphrase(path: location.path) : .locked(path: location.path, why: nil)
    }

    private func passphrase(_ attempt: Int) throws(KeystoreError) -> Passphrase? {
        // The lock is not held during this call, because a user may have to type.
        let source = state.withLock { $0.source }
        do { return try source?(attempt) } catch {
            throw KeystoreError.locked(path: location.path, why: String(describing: error))
        }
    }
}
