package import SMIME
package import SMIMEStore

extension SignerSighting {
    /// The evidence in `message` about its author, for `RecipientRegistry.learn`.
    ///
    /// Only the opener can create a `VerifiedMessage`, and no other public initializer creates a sighting. So nothing can be
    /// learned from an unverified message.
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
