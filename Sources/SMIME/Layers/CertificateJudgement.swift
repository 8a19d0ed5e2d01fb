import InternetMessage
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What depends on a signer's certificate only, however many signatures of a layer are by that certificate.
struct CertificateJudgement {
    /// What the names in the certificate say about the sender; nil if there is nothing to say.
    let finding: SignerIdentity.Finding?
    /// The verdict on the certificate's chain.
    let verdict: ChainVerdict
    /// The first address in From that the certificate names; nil if there is none.
    let author: EmailAddress?

    /// - Parameter identity: the sender of the message; nil for data without a sender.
    init(
        of certificate: Certificate,
        in layer: SignedLayer,
        _ identity: SignerIdentity?,
        by validator: PathValidator,
        at time: Date
    ) {
        finding = identity?.judge(certificate) ?? SignerIdentity.defects(of: certificate)
        author = identity?.author(named: certificate)
        let restricted =
            identity.map { validator.restricted(to: $0.scopes(of: certificate)) }
            ?? validator.restricted(to: certificate.addressScopes, signedBy: certificate)
        verdict = layer.chain(of: certificate, by: restricted, at: time)
    }
}
