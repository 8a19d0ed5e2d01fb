import CMSSyntax
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
