package import CMSSyntax
package import InternetMessage
package import SMIMEStore

extension Store {
    /// Checks that `setCipher` will succeed.
    ///
    /// - Throws: `AgentError.noAccountCipher` if the address cannot be written in the setting; `SettingError.notUnderstood`.
    package func checkCipher(_ cipher: ContentCipher?, for sender: EmailAddress) async throws {
        let setting = Setting.encryptionUnknown
        let made = try await settings.value(of: setting.rawValue) ?? setting.standard
        guard CipherPreferences(parsing: made) != nil else { throw SettingError.notUnderstood(setting) }
        guard CipherPreferences.text(made, sender, cipher: cipher) != nil else {
            throw AgentError.noAccountCipher(for: sender, in: setting.rawValue)
        }
    }

    /// Makes `cipher` the exception for mail from `sender` in the setting encryption.unknown; removes that exception if
    /// `cipher` is nil. Changes nothing if `checkCipher` would fail.
    package func setCipher(_ cipher: ContentCipher?, for sender: EmailAddress) async throws {
        let setting = Setting.encryptionUnknown
        try await settings.change(setting.rawValue) { old in
            let changed = CipherPreferences.text(old ?? setting.standard, sender, cipher: cipher) ?? old
            return changed == setting.standard ? nil : changed
        }
    }
}
