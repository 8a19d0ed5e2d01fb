import CMSSyntax
package import PKIX
package import SMIME
package import SMIMEStore

extension CipherNegotiation.Party {
    /// A recipient, with what is known of them; nil if nothing is.
    package init(name: String, certificate: Certificate, known: KnownRecipient?) {
        // A reader with a key of this store reads what we read.
        let isOurs = known?.source == .identity
        self.init(
            name: name,
            certificate: certificate,
            capabilities: isOurs ? SMIMECapability.ours : known?.announced,
            isOurs: isOurs
        )
    }

    /// Ourselves: we read whatever we write.
    package init(name: String, ours certificate: Certificate) {
        self.init(name: name, certificate: certificate, capabilities: SMIMECapability.ours, isOurs: true)
    }
}

extension RecipientChoice {
    /// The certificate to encrypt to, as a party to the choice of the cipher; nil if there is none.
    package var party: CipherNegotiation.Party? {
        selected.map { CipherNegotiation.Party(name: address.text, certificate: $0.certificate, known: $0) }
    }
}
