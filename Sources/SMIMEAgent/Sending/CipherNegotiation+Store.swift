package import CMSSyntax
package import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore

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
