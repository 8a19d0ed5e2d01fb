import Foundation
package import LibCrypto
import Synchronization

/// A store that is being opened in the background, while the caller does something else.
///
/// Any number of tasks can wait for the store. Each gets the store or the error, or stops waiting at its own deadline.
package final class StoreOpening: Sendable {
    /// How long a caller waits by default.
    package static let timeout = Duration.seconds(5)

    private typealias Outcome = Result<Store, KeystoreError>

    private struct State {
        var outcome: Outcome?
        /// An array is used because creating a dictionary of a further type takes longer than searching the few elements.
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Outcome, Never>)] = []
        var next = 0

        mutating func stopWaiting(_ ticket: Int) -> CheckedContinuation<Outcome, Never>? {
            waiting.firstIndex { $0.ticket == ticket }.map { waiting.remove(at: $0).continuation }
        }
    }

    /// A separate queue, so that deadlines are met while other threads are blocked.
    private static let deadlines = DispatchQueue(label: "smime store deadlines")

    private let location: StoreLocation
    private let timeout: Duration
    private let state = Mutex(State())
    /// Signalled when there is an outcome.
    private let opened = DispatchSemaphore(value: 0)

    /// Starts to open the store at `location`.
    ///
    /// - Parameters:
    ///   - timeout: how long calls wait by default.
    ///   - passphrase: the source of the passphrase, called when a private key of a locked store is needed.
    package init(
        _ location: StoreLocation,
        mode: Store.Mode,
        timeout: Duration = StoreOpening.timeout,
        passphrase: PassphraseSource? = nil
    ) {
        self.location = location
        self.timeout = timeout
        // A task is not used, because the caller may be using all cooperative threads.
        DispatchQueue(label: "smime store opening").async { [self] in
            finish(
                StoreExecutor.run {
                    Result { () throws(KeystoreError) in
                        try Store.openNow(location, mode: mode, passphrase: passphrase)
                    }
                }
            )
        }
    }

    /// Wraps a store that is already open.
    package init(_ store: Store) {
        location = store.location
        timeout = Self.timeout
        finish(.success(store))
    }

    /// Waits until the store is open.
    ///
    /// - Parameter timeout: how long to wait; nil means the default of this object.
    /// - Throws: what opening the store threw; `.openingTimedOut` after `timeout`.
    package func store(within timeout: Duration? = nil) async throws(KeystoreError) -> Store {
        let timeout = timeout ?? self.timeout
        let outcome = await withCheckedContinuation { continuation in
            let ticket: Int? = state.withLock { state in
                guard state.outcome == nil else { return nil }
                defer { state.next += 1 }
                state.waiting.append((state.next, continuation))
                return state.next
            }
            guard let ticket else { return answer(continuation) }
            // Waiting calls retain this object. The deadline does not: otherwise the store and the passphrase would stay in
            // memory until the deadline.
            Self.deadlines.asyncAfter(deadline: .now() + timeout.timeInterval) { [weak self] in
                guard let self, let late = state.withLock({ $0.stopWaiting(ticket) }) else { return }
                late.resume(returning: .failure(.openingTimedOut(path: location.path)))
            }
        }
        return try outcome.get()
    }

    /// Waits until the store is open, for callers that cannot suspend, such as callbacks of a C library. Blocks the thread.
    ///
    /// - Throws: what opening the store threw; `.openingTimedOut` after `timeout`; `.insideStore` if the store itself runs the
    ///   caller's code, because the wait could only time out.
    package func storeNow(within timeout: Duration? = nil) throws(KeystoreError) -> Store {
        guard !StoreExecutor.isCurrent else { throw .insideStore(path: location.path) }
        let deadline = DispatchTime.now() + (timeout ?? self.timeout).timeInterval
        let isOpen = opened.wait(timeout: deadline) == .success
        guard isOpen, let outcome = state.withLock({ $0.outcome }) else { throw .openingTimedOut(path: location.path) }
        // Wakes the next waiting caller.
        opened.signal()
        return try outcome.get()
    }

    private func answer(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { $0.outcome }
        continuation.resume(returning: outcome ?? .failure(.openingTimedOut(path: location.path)))
    }

    private func finish(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            defer { state.waiting = [] }
            return state.waiting.map(\.continuation)
        }
        waiting.forEach { $0.resume(returning: outcome) }
        opened.signal()
    }
}

extension Store {
    /// Why the store cannot be used for handling mail.
    package enum Obstacle: Equatable, Sendable {
        /// The database or the settings of this host cannot be read.
        case database(KeystoreError)
        /// No private key can be opened. Operations without a private key are still possible.
        case key(KeystoreError)
    }

    /// Queries the database, reads the settings of this host and opens the store key, to find failures before mail arrives.
    ///
    /// - Returns: nil if all succeed.
    package func obstacle() async -> Obstacle? {
        for _ in 0..<Protectors.changesSeen {
            do throws(KeystoreError) {
                try database.checkSchemaVersion()
                let protectors = try await database.read { try Protectors(in: $0) }
                do throws(KeystoreError) { _ = try await unlocker.key(for: protectors) } catch {
                    // Another process may have replaced the store key meanwhile.
                    guard try await isChanged(protectors) else { return .key(error) }
                    continue
                }
                _ = try settings.ofHost()
                return nil
            } catch { return .database(error) }
        }
        return .database(.busy(path: location.path))
    }
}

extension Store {
    /// The name of the agent's socket for the current store key; nil if no passphrase protects the store.
    package func nameForAgent() async throws(KeystoreError) -> String? {
        guard let wrapped = try await database.read({ try Protectors(in: $0) }).passphrase else { return nil }
        do { return try KeyAgentClient.name(of: wrapped) } catch { throw KeystoreError(error, path: location.database) }
    }

    /// The store key for an agent, and the name of the agent's socket; nil if no passphrase protects the store.
    ///
    /// - Throws: what opening the store key throws.
    package func keyForAgent() async throws(KeystoreError) -> (name: String, key: SecretBytes)? {
        let protectors = try await database.read { try Protectors(in: $0) }
        guard let wrapped = protectors.passphrase else { return nil }
        let key = try await unlocker.key(for: protectors)
        do {
            let name = try KeyAgentClient.name(of: wrapped)
            return (name, key.withBytes { bytes in SecretBytes(copying: bytes) })
        } catch { throw KeystoreError(error, path: location.database) }
    }
}
