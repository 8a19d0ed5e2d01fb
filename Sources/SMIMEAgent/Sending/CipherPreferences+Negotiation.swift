package import CMSSyntax
package import InternetMessage
package import SMIME

extension CipherPreferences {
    /// The cipher for one message from `senders` that all `readers` can read.
    ///
    /// - Parameters:
    ///   - recipients: the message's recipients. Rules for recipients take precedence over rules for senders.
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
