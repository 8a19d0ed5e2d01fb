package import Foundation
package import InternetMessage
package import PKIX

/// Who signs mail with an author in From: the one rule for commands and gateways.
///
/// Readers take a signature by a certificate that does not name the author for a stranger's, so a gateway never makes one. A
/// command's user may have given such a certificate to the author's account by hand; then the command signs with a warning.
extension IdentitySelection {
    /// What a certificate has to do with the author of mail.
    package enum AuthorMatch: Hashable, Sendable {
        /// The certificate names the author.
        case named
        /// The author's account was given the certificate by hand.
        case assigned
        /// The certificate is someone else's, and must not sign.
        case foreign
    }

    /// What `certificate` has to do with `author`.
    ///
    /// - Parameter identities: those of the author's account.
    package static func match(
        of certificate: Certificate,
        with author: EmailAddress,
        in identities: [AccountIdentity]
    ) -> AuthorMatch {
        if certificate.names(author) { return .named }
        return identities.contains { $0.isAssigned && $0.certificate == certificate } ? .assigned : .foreign
    }

    /// The identity that signs mail with `author` in From: the current one of those whose certificates name the author.
    ///
    /// - Parameter account: the address of the account whose current identity signs where none names the author, if `match`
    ///   permits it; nil if then none signs, as in a gateway.
    package static func signer(
        naming author: EmailAddress,
        orCurrentOf account: EmailAddress?,
        of identities: [AccountIdentity],
        at time: Date,
        verdicts: CertificateVerdicts
    ) -> AccountIdentity? {
        let named = identities.filter { $0.certificate.names(author) }
        return current(of: named, for: author, purpose: .signing, at: time, verdicts: verdicts)
            ?? account.flatMap { current(of: identities, for: $0, purpose: .signing, at: time, verdicts: verdicts) }
    }
}
