package import SMIME
package import SMIMEStore

extension SignerSighting {
    /// The evidence in `message` about its author, for `RecipientRegistry.learn`.
    ///
    /// Only the opener makes a `VerifiedMessage`, and there is no other public way to make a sighting, so nothing can
    /// be learned from an unverified message.
    package init(_ message: VerifiedMessage) {
        self.init(
            address: message.author,
            certificate: message.signerCertificate,
            encryptionCertificate: message.encryptionCertificate,
            authorities: message.authorities,
            isAnchored: message.isAnchored,
            capabilities: message.capabilities,
            signingTime: message.signingTime,
            messageID: message.messageID
        )
    }
}
