package import CMSSyntax
package import InternetMessage
package import SMIME

extension CipherPreferences {
    /// The cipher that one message from `senders` is encrypted with, so that all `readers` can read it.
    ///
    /// - Parameters:
    ///   - recipients: whom the message is for; rules for them go before those for the senders.
    ///   - demanded: the cipher that was asked for, whatever they announce.
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
