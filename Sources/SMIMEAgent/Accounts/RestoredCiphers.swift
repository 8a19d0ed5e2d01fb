package import CMSSyntax
package import InternetMessage
package import SMIMEStore

/// The cipher rules for accounts that a backup brings, as part of one setting.
package struct RestoredCiphers: Sendable {
    package static let setting = Setting.encryptionUnknown

    /// The ciphers for accounts without a rule in this store.
    package let new: [(account: EmailAddress, cipher: ContentCipher)]
    /// The ciphers of the backup that differ from this store's, in words. They are not restored.
    package let kept: [String]

    /// - Parameter preferences: the store's own rules.
    /// - Throws: `AgentError.unknownCipher`
    package init(_ restoration: Restoration, beside preferences: CipherPreferences, file: String) throws {
        var new: [(account: EmailAddress, cipher: ContentCipher)] = []
        var kept: [String] = []
        for (account, name) in restoration.ciphers {
            guard let cipher = ContentCipher(writable: name) else {
                throw AgentError.unknownCipher(file: file)
            }
            switch preferences.cipher(for: account) {
            case nil: new.append((account, cipher))
            case cipher?: break
            case let other?: kept.append("the cipher for \(account) is another one here, \(other.name)")
            }
        }
        (self.new, self.kept) = (new, kept)
    }

    /// The setting with the new rules.
    package func change(_ old: String?) -> String? {
        new.reduce(old) { CipherPreferences.text($0 ?? Self.setting.standard, $1.account, cipher: $1.cipher) ?? $0 }
    }
}
