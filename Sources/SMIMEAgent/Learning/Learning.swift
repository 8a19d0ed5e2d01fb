import Foundation
package import SMIME
package import SMIMEStore

/// Learns the authors' certificates from verified messages.
package struct Learning: Sendable {
    private let store: Store
    private let policy: ChangePolicy

    /// - Parameter policy: how to treat a certificate by another issuer or for another key than before.
    package init(in store: Store, onChange policy: ChangePolicy) {
        self.store = store
        self.policy = policy
    }

    /// What would be learned from `messages`; nothing is changed.
    ///
    /// A store that does not exist is not created for this: nothing is learned then.
    package func preview(_ messages: [VerifiedMessage]) async throws(KeystoreError) -> LearningReport {
        guard store.exists, !messages.isEmpty else { return LearningReport() }
        return try await store.recipients.preview(messages.map(SignerSighting.init), at: .now, onChange: policy)
    }

    /// Learns from `messages`.
    ///
    /// - Returns: what was learned; nil if the store cannot be written, and is left as it is.
    package func learn(_ messages: [VerifiedMessage]) async throws(KeystoreError) -> LearningReport? {
        let sightings = messages.map(SignerSighting.init)
        do throws(KeystoreError) {
            guard store.isReadOnly else {
                return try await store.recipients.learn(sightings, at: .now, onChange: policy)
            }
            let writable = try await Store.open(store.location, mode: .readWriteExisting)
            let report = try await writable.recipients.learn(sightings, at: .now, onChange: policy)
            store.noteChange()
            try await writable.close()
            return report
        } catch .notWritable {
            return nil
        }
    }
}
