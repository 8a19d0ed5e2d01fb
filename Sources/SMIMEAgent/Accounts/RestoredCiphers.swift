package import CMSSyntax
package import InternetMessage
package import SMIMEStore

/// The ciphers of accounts in a backup that are to be added to the setting `encryption.unknown`.
package struct RestoredCiphers: Sendable {
    package static let setting = Setting.encryptionUnknown

    /// The ciphers of the backup for accounts that have none in this store.
    package let new: [(account: EmailAddress, cipher: ContentCipher)]
    /// Descriptions of the backup's ciphers that differ from this store's ciphers. They are not restored.
    package let kept: [String]

    /// - Parameter preferences: the store's own setting.
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
            case let other?: kept.append("the store has another cipher for \(account): \(other.name)")
            }
        }
        (self.new, self.kept) = (new, kept)
    }

    /// The value of the setting after the new ciphers are added; `old` is its present value.
    package func change(_ old: String?) -> String? {
        new.reduce(old) { CipherPreferences.text($0 ?? Self.setting.standard, $1.account, cipher: $1.cipher) ?? $0 }
    }
}
