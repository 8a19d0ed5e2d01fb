import SMIMEAgent
package import SMIMEStore

extension Store {
    /// The envelope sender of mail that was decrypted here: `filter.decrypted-sender`, the null sender unless set.
    ///
    /// Bounces go to it: an attacker who sends us another person's ciphertext must not get it back in clear.
    ///
    /// - Throws: `KeystoreError`
    package func decryptedSender() async throws -> EnvelopeSender {
        try await decodedSettings { try $0[.decryptedSender, { EnvelopeSender($0) }] }
    }

    /// The host as `filter.authserv-id` names it, or the system where that is empty.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func mailHost() async throws -> MailHost {
        // The system's name may change while the store does not.
        guard try await !value(of: .authservID, { $0 }).isEmpty else { return MailHost() }
        return try await decodedSettings { try $0[.authservID, { HostName($0).map { MailHost(name: $0) } }] }
    }
}
