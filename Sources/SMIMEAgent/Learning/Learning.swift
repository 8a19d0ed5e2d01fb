package import Foundation
package import SMIME
package import SMIMEStore

/// Learns the authors' certificates from verified messages.
package struct Learning: Sendable {
    private let store: Store
    private let policy: ChangePolicy
    private let reopens: Bool

    /// - Parameters:
    ///   - policy: how to treat a certificate with another issuer or another key than the known certificates.
    ///   - reopens: whether a store that was opened for reading is opened again for writing. If true and that is impossible,
    ///     the store is not changed; if false, a store opened for reading is an error.
    package init(in store: Store, onChange policy: ChangePolicy, reopensForWriting reopens: Bool = true) {
        self.store = store
        self.policy = policy
        self.reopens = reopens
    }

    /// What would be learned from `messages`; does not change the store.
    ///
    /// A missing store is not created: the report is then empty.
    package func preview(
        _ messages: [VerifiedMessage],
        at time: Date = .now
    ) async throws(KeystoreError) -> LearningReport {
        guard store.exists, !messages.isEmpty else { return LearningReport() }
        return try await store.recipients.preview(messages.map(SignerSighting.init), at: time, onChange: policy)
    }

    /// Learns from `messages`.
    ///
    /// - Returns: what was learned; nil if the store cannot be written and was not changed.
    package func learn(
        _ messages: [VerifiedMessage],
        at time: Date = .now
    ) async throws(KeystoreError) -> LearningReport? {
        let sightings = messages.map(SignerSighting.init)
        do throws(KeystoreError) {
            guard store.isReadOnly, reopens else {
                return try await store.recipients.learn(sightings, at: time, onChange: policy)
            }
            let writable = try await Store.open(store.location, mode: .readWriteExisting)
            let report = try await writable.recipients.learn(sightings, at: time, onChange: policy)
            store.emptyCache()
            try await writable.close()
            return report
        } catch .notWritable where reopens {
            return nil
        }
    }

    /// Learns from `messages` only if there is anything new. In the usual case, known authors, this call does not wait for
    /// another writer.
    ///
    /// - Returns: the result of `learn`; if there is nothing new, that of `preview`.
    package func learnWhatIsNew(
        _ messages: [VerifiedMessage],
        at time: Date = .now
    ) async throws(KeystoreError) -> LearningReport? {
        let report = try await preview(messages, at: time)
        return report.changesStore ? try await learn(messages, at: time) : report
    }
}
