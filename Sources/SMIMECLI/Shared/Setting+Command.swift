import CMSSyntax
import InternetMessage
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension Setting {
    /// What it can be, in words.
    var expectation: String {
        switch self {
        case .encryptionCipher: "a cipher, and others for domains or senders, as 'aes-256-gcm example.org=aes-256-cbc'"
        case .encryptionFloor: "one of \(ContentCipher.writable.map(\.name).joined(separator: ", "))"
        case .authservID: "a host name, or nothing"
        case .bounceText: "a sentence of at most 500 bytes on one line, or nothing"
        case .decryptedSender: "an address, or nothing"
        case .filterLog: LogTarget.allCases.map(\.rawValue).joined(separator: ", ")
        case .acceptSender, .acceptWeak, .filterTags, .headerProtection, .legacyDisplay, .revocationOnline,
            .revocationPrivateAddresses:
            "on or off"
        case .recipientDelimiter: "punctuation as Postfix's recipient_delimiter, or nothing"
        case .sendmail: "a program by its whole path, and its arguments"
        case .headerConfidentiality: "one of \(HeaderConfidentiality.allCases.map(\.rawValue).joined(separator: ", "))"
        case .lookupDirectory, .revocationDirectory: "a folder by its whole path"
        case .lookupDirectoryTimeout, .revocationTimeout: "a time like 2s or 500ms, up to 300s"
        case .lookupSources: "registry, or registry and directory"
        case .subjectTags: "tags and what they mean, as '[encrypt] encrypt=require'"
        }
    }
}

extension Store {
    /// Whether the folder that `setting` names can be read; true if it names none, or is another setting than
    /// revocation.directory.
    func canReadFolder(of setting: Setting) async -> Bool {
        guard setting == .revocationDirectory else { return true }
        return (try? await revocationLists()) != nil
    }

    /// Sees to it that `setCipher` can do what it is asked for.
    ///
    /// - Throws: `Failure` with status 64 if the address cannot stand in the setting; `SettingError.notUnderstood`.
    func checkCipher(_ cipher: ContentCipher?, for sender: EmailAddress) async throws {
        let setting = Setting.encryptionCipher
        let made = try await settings.value(of: setting.rawValue) ?? setting.standard
        guard CipherPreferences(parsing: made) != nil else { throw SettingError.notUnderstood(setting) }
        guard CipherPreferences.text(made, sender, cipher: cipher) != nil else {
            throw Failure(.usage, "--cipher: \(sender) cannot stand in the setting \(setting.rawValue)")
        }
    }

    /// Makes `cipher` the rule of the setting encryption.cipher for mail from `sender`, or takes that rule away.
    /// What `checkCipher` refuses changes nothing.
    func setCipher(_ cipher: ContentCipher?, for sender: EmailAddress) async throws {
        let setting = Setting.encryptionCipher
        try await settings.change(setting.rawValue) { old in
            let changed = CipherPreferences.text(old ?? setting.standard, sender, cipher: cipher) ?? old
            return changed == setting.standard ? nil : changed
        }
    }
}
