package import CMSSyntax
package import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore

/// The ciphers for recipients with unknown capabilities: a default cipher, and exceptions for some recipients or senders.
///
/// Written as `aes-256-gcm old.example.org=aes-256-cbc alice@example.com=aes-256-cbc`.
package struct CipherPreferences: Sendable {
    private let standard: ContentCipher
    private let exceptions: [(pattern: Policy.Pattern, cipher: ContentCipher)]
    private let floor: ContentCipher

    package init() { (standard, exceptions, floor) = (.aes256GCM, [], .aes128CBC) }

    /// - Parameter floor: the weakest cipher that is ever negotiated.
    /// - Returns: nil if a word is neither a cipher nor PATTERN=CIPHER, or if the default cipher is missing or given twice.
    package init?(parsing text: String, floor: ContentCipher = .aes128CBC) {
        var standard: ContentCipher?
        var exceptions: [(pattern: Policy.Pattern, cipher: ContentCipher)] = []
        for word in text.split(separator: " ") {
            let pieces = word.split(separator: "=", omittingEmptySubsequences: false)
            guard let last = pieces.last, let cipher = ContentCipher(writable: last) else { return nil }
            if pieces.count == 2, let pattern = Policy.Pattern(String(pieces[0])) {
                exceptions.append((pattern, cipher))
            } else if pieces.count == 1, standard == nil {
                standard = cipher
            } else {
                return nil
            }
        }
        guard let standard else { return nil }
        (self.standard, self.exceptions, self.floor) = (standard, exceptions, floor)
    }

    /// The cipher of the exception for exactly the address `sender`; nil if there is none.
    package func cipher(for sender: EmailAddress) -> ContentCipher? {
        let pattern = Policy.Pattern("\(sender)")
        return exceptions.first { $0.pattern.key == pattern?.key }?.cipher
    }

    /// `text` with `cipher` as the exception for exactly the address `sender`; without such an exception if `cipher` is nil.
    ///
    /// - Returns: nil if the address cannot be written in such a text, or if `cipher` is given and `text` cannot be
    ///   parsed.
    package static func text(_ text: String, _ sender: EmailAddress, cipher: ContentCipher?) -> String? {
        guard let key = Policy.Pattern("\(sender)")?.key else { return nil }
        let others = text.split(separator: " ").filter { word in
            Policy.Pattern(String(word.prefix { $0 != "=" }))?.key != key
        }
        let changed = (others.map(String.init) + (cipher.map { ["\(sender)=\($0.name)"] } ?? [])).joined(separator: " ")
        return CipherPreferences(parsing: changed)?.cipher(for: sender) == cipher ? changed : nil
    }

    /// The preferences for one message. The first of `recipients` that has an exception decides, otherwise the first of
    /// `senders` that has one. If several patterns match an address, the most specific one applies.
    package func preferences(
        from senders: [EmailAddress],
        to recipients: [EmailAddress],
        demanded: ContentCipher? = nil
    ) -> CipherNegotiation.Preferences {
        let forRecipients = recipients.lazy.compactMap(exception).first
        let found = forRecipients ?? senders.lazy.compactMap(exception).first
        return CipherNegotiation.Preferences(
            demanded: demanded,
            standard: found ?? standard,
            standardReason: found == nil ? .standard : forRecipients == nil ? .account : .recipient,
            floor: floor
        )
    }

    /// The cipher of the exception with the most specific pattern for `address`.
    private func exception(for address: EmailAddress) -> ContentCipher? {
        Policy.Pattern.keys(for: address).lazy.compactMap { key in exceptions.first { $0.pattern.key == key }?.cipher }
            .first
    }
}

extension CipherNegotiation.Party {
    /// A recipient with `certificate`; `known` is what the store knows of the recipient, or nil.
    package init(name: String, certificate: Certificate, known: KnownRecipient?) {
        // A recipient whose key is in this store can read what this program reads.
        let isOurs = known?.source == .identity
        self.init(
            name: name,
            certificate: certificate,
            capabilities: isOurs ? SMIMECapability.ours : known?.announced,
            isOurs: isOurs
        )
    }

    /// The owner of the store, who can read every cipher that this program can write.
    package init(name: String, ours certificate: Certificate) {
        self.init(name: name, certificate: certificate, capabilities: SMIMECapability.ours, isOurs: true)
    }
}

extension RecipientChoice {
    /// The certificate to encrypt to, with its owner's capabilities, for the choice of the cipher; nil if there is no
    /// certificate.
    package var party: CipherNegotiation.Party? {
        selected.map { CipherNegotiation.Party(name: address.text, certificate: $0.certificate, known: $0) }
    }
}

extension CipherPreferences {
    /// The cipher for one message from `senders` that all `readers` can read.
    ///
    /// - Parameters:
    ///   - recipients: the message's recipients. Exceptions for recipients take precedence over those for senders.
    ///   - demanded: the cipher that the user demands, whatever ciphers the recipients announce; nil if the user demands
    ///     none.
    /// - Throws: `MessageError`
    package func negotiation(
        for readers: [CipherNegotiation.Party],
        from senders: [EmailAddress],
        to recipients: [EmailAddress],
        demanded: ContentCipher? = nil
    ) throws -> CipherNegotiation {
        try CipherNegotiation(for: readers, preferences(from: senders, to: recipients, demanded: demanded))
    }
}

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
