package import ByteStreams
package import PKIX
package import SMIME

/// The certificates that a mail brings, for a person who decides by hand whether to trust one of them.
package struct MailCertificates: Sendable {
    /// The certificates of the signers whose signature covers the whole message and is intact. Their owners are not verified.
    package let signers: [Certificate]
    /// The certificates of authorities in the mail.
    package let authorities: [Certificate]

    /// The certificates in `source`; nil if it is no mail.
    ///
    /// - Throws: what opening and the key provider throw.
    package init?(_ source: any ByteSource, opener: MessageOpener) async throws {
        guard try MailSources.isMailFromSomebody(source) else { return nil }
        let report = try await opener.open(source).report
        var seen: Set<Fingerprint> = []
        let fitting = report.coverage == .whole ? report.signers.filter(\.integrity.holds) : []
        signers = fitting.compactMap(\.certificate).filter { seen.insert($0.fingerprint).inserted }
        // Authorities inside an encrypted layer are not found; the signer's own certificate is enough to trust the signer.
        authorities = try Inspection(of: source, form: .message).certificates.filter(\.isCertificateAuthority)
    }

    /// The highest authority above `signer` in the mail; nil if there is none.
    package func authority(above signer: Certificate) -> Certificate? {
        var (found, last) = (Certificate?.none, signer)
        for _ in authorities {
            guard !last.isSelfIssued, let next = authorities.first(where: { $0.subject.matches(last.issuer) }) else {
                break
            }
            (found, last) = (next, next)
        }
        return found
    }
}
