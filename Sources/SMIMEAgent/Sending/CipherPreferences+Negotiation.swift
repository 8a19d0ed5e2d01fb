package import CMSSyntax
package import InternetMessage
package import SMIME

extension CipherPreferences {
    /// The cipher for one message from `senders` that all `readers` can read.
    ///
    /// - Parameters:
    ///   - recipients: the message's recipients; rules for them precede those for the senders.
    ///   - demanded: the cipher that the user demands, whatever recipients announce.
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
