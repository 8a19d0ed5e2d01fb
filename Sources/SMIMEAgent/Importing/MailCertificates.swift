package import ByteStreams
import InternetMessage
package import PKIX
package import SMIME
import SMIMEStore

/// The certificates in a mail, from which a person can choose one to trust.
package struct MailCertificates: Sendable {
    /// The certificates of signers with an intact signature that covers the whole message. The identity of their owners is
    /// not verified.
    package let signers: [Certificate]
    private let authorities: IssuerSearch

    /// The certificates in `source`; nil if `source` is not mail.
    ///
    /// - Throws: the errors of opening and of the key provider.
    package init?(_ source: any ByteSource, opener: MessageOpener) async throws {
        guard try MailSources.beginsAsMail(source) else { return nil }
        let report = try await opener.open(source).report
        var seen: Set<Fingerprint> = []
        let fitting = report.coverage == .whole ? report.signers.filter(\.integrity.holds) : []
        signers = fitting.compactMap(\.certificate).filter { seen.insert($0.fingerprint).inserted }
        // Authorities inside an encrypted layer are not found; the signer's own certificate is enough to trust the signer.
        let found = try Inspection(of: source, form: .message).certificates
        authorities = IssuerSearch(among: found.filter(\.isCertificateAuthority))
    }

    /// The certificates of authorities above `signers` that the mail contains, each once. The signatures of the chains are
    /// verified.
    package func authorities(above signers: [Certificate]) -> [Certificate] {
        var seen: Set<Certificate> = []
        return signers.flatMap(authorities.allIssuers).filter { seen.insert($0).inserted }
    }

    /// The highest authority of each chain above `signer` in the mail; empty if there is none. There may be several chains,
    /// because anyone can certify an authority's key under another root of the same name.
    package func highest(above signer: Certificate) -> [Certificate] { authorities.tops(above: signer) }
}
