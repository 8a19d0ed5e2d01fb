import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.TrustCommand.Add {
    /// Adds the certificates of a file, or the authority that a signed mail brings.
    func add(_ file: String, to batch: inout ImportBatch) async throws {
        switch try await CertificateInput(try global.opening(.readOnly)).read(file) {
        case .files(let items):
            do {
                try batch.add(items, of: file) { $1.anchors.append($0) }
            } catch { throw Failure(error, in: InputFile.name(file)) }
        case .mail(let mail):
            let authorities = mail.signers.compactMap(mail.authority)
            guard !authorities.isEmpty else { throw Self.failure(mail, file) }
            if fingerprint == nil { try authorities.forEach { try Self.ask($0, file) } }
            batch.anchors += authorities
            batch.intermediates += mail.authorities
        }
    }

    /// The failure for mail that brings no authority.
    private static func failure(_ mail: MailCertificates, _ file: String) -> Failure {
        let signer = mail.signers.first
        let hints = signer.flatMap { signer in
            signer.addresses.first.map {
                "to trust the signer alone: smime recipient trust \(shell: $0) --from \(shell: file) --fingerprint \(signer.fingerprint)"
            }
        }
        let name = signer.map { $0.issuer.commonName ?? "\($0.issuer)" } ?? "the authority"
        return Failure(
            .badData,
            "\(InputFile.name(file)): does not bring the certificate of \(name); ask the sender or the authority for it",
            hints: [hints].compactMap(\.self)
        )
    }

    private static func ask(_ authority: Certificate, _ file: String) throws {
        let command = "smime trust add \(shell: file) --fingerprint \(authority.fingerprint)"
        try Confirmation.ask(
            "every certificate that \(authority.subject) issued would be trusted; compare its fingerprint \(authority.fingerprint) "
                + "with what the authority publishes",
            unless: false,
            by: command
        )
    }
}
