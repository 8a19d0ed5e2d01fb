package import Foundation
package import InternetMessage
package import PKIX

/// Selects the identity that signs mail with a given author in From. Commands and gateways share this rule.
///
/// Mail readers distrust a signature by a certificate that does not name the author, so a gateway never signs with such a
/// certificate. A user of the command may have assigned such a certificate to the author's account; then the command signs
/// and warns.
extension IdentitySelection {
    /// How a certificate is related to the author of mail.
    package enum AuthorMatch: Hashable, Sendable {
        /// The certificate names the author.
        case named
        /// A user assigned the certificate to the author's account.
        case assigned
        /// The certificate belongs to another person, and must not sign.
        case foreign
    }

    /// How `certificate` is related to `author`.
    ///
    /// - Parameter identities: the identities of the author's account.
    package static func match(
        of certificate: Certificate,
        with author: EmailAddress,
        in identities: [AccountIdentity]
    ) -> AuthorMatch {
        if certificate.names(author) { return .named }
        return identities.contains { $0.isAssigned && $0.certificate == certificate } ? .assigned : .foreign
    }

    /// The identity that signs mail with `author` in From: the current one of the identities whose certificates name the
    /// author.
    ///
    /// - Parameter account: if no certificate names the author, the current identity of the account with this address
    ///   signs. The caller must check it with `match`. If nil, as in a gateway, no identity signs then.
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
