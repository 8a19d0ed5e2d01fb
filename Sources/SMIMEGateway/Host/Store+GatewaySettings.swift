import SMIMEAgent
package import SMIMEStore

extension Store {
    /// The envelope sender of mail that was decrypted here: the setting `filter.decrypted-sender`. The default is the null
    /// sender.
    ///
    /// Bounces are sent to this address: an attacker who sends another person's ciphertext must not get the decrypted text
    /// back.
    ///
    /// - Throws: `KeystoreError`
    package func decryptedSender() async throws -> EnvelopeSender {
        try await decodedSettings { try $0[.decryptedSender, { EnvelopeSender($0) }] }
    }

    /// The host that the setting `filter.authserv-id` names; the system's host name if the setting is empty.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func mailHost() async throws -> MailHost {
        // The system's host name may change while the store does not, so it is not cached with the settings.
        let named = try await decodedSettings { values -> MailHost? in
            let text = try values[.authservID, { $0 }]
            guard !text.isEmpty else { return nil }
            guard let name = HostName(text) else { throw SettingError.notUnderstood(.authservID) }
            return MailHost(name: name)
        }
        return named ?? MailHost()
    }
}
