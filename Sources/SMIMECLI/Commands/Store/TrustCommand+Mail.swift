import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.TrustCommand.Add {
    /// Adds the certificates of a file, or the authority in a signed mail.
    func add(_ file: String, to batch: inout ImportBatch) async throws {
        let opening = try global.opening(.readOnly)
        switch try await CertificateInput(opening).read(file) {
        case .files(let items, let isInMail):
            do {
                try batch.add(items, of: file) { certificate, batch in
                    if isInMail, fingerprint == nil { try Self.ask(certificate, file) }
                    batch.anchors.append(certificate)
                }
            } catch { throw Failure(error, in: InputFile.name(file)) }
        case .mail(let mail):
            var authorities: [Certificate] = []
            for highest in mail.signers.flatMap(mail.highest) {
                // Mail seldom contains the root certificate, but an import may have stored it.
                let root = try await opening.store().anchors.chainEnd(above: highest).root ?? highest
                if !authorities.contains(root) { authorities.append(root) }
            }
            guard !authorities.isEmpty else { throw try await failure(mail, file, opening: opening) }
            for signer in mail.signers where !mail.highest(above: signer).isEmpty {
                for address in signer.addresses.compactMap({ try? AddressScope($0) }) {
                    try await opening.store().warnOfOthers(than: signer, of: address)
                }
            }
            if fingerprint == nil { try Self.ask(authorities, file) }
            batch.anchors += authorities
            batch.intermediates += mail.authorities(above: mail.signers)
        }
    }

    /// The certificate in the store whose fingerprint begins with `prefix`, after the user has confirmed the rest. A
    /// certificate that is an anchor already needs no confirmation.
    func confirmed(_ prefix: FingerprintPrefix) async throws -> Certificate {
        try prefix.checkForTrust()
        let store = try await global.store(.readOnly)
        let certificates = try await store.certificates(named: prefix)
        let fingerprint = try prefix.only(among: certificates.map(\.fingerprint))
        guard let certificate = certificates.first(where: { $0.fingerprint == fingerprint }) else {
            throw KeystoreError.unknownCertificate(fingerprint)
        }
        let isAnchor = try await store.anchors.all().contains { $0.certificate == certificate }
        try Confirmation.ask(
            Self.question(about: certificate),
            unless: isAnchor,
            by: "smime trust add \(fingerprint)"
        )
        return certificate
    }

    /// The failure for mail that contains no certificate of an authority.
    private func failure(_ mail: MailCertificates, _ file: String, opening: StoreOpening) async throws -> Failure {
        let signer = mail.signers.first
        var hints: String?
        if let signer, let address = signer.addresses.first.flatMap({ try? AddressScope($0) }) {
            let others = try await opening.store().otherCertificates(than: signer, of: address)
            hints =
                others.text.map { "\($0): smime recipient show \(shell: address)" }
                ?? "to trust the signer alone: smime recipient trust \(shell: address) --from \(shell: file) --fingerprint \(signer.fingerprint)"
        }
        let name = signer.map { $0.issuer.commonName ?? "\($0.issuer)" } ?? "the authority"
        let isSelfSigned = signer.map { $0.issuer == $0.subject } ?? false
        let text =
            isSelfSigned
            ? "no authority issued the certificate of \(name): it is self-signed"
            : "does not contain the certificate of \(name); ask the sender or the authority for it"
        return Failure(.badData, "\(InputFile.name(file)): \(text)", hints: [hints].compactMap(\.self))
    }

    private static func ask(_ authorities: [Certificate], _ file: String) throws {
        guard authorities.count > 1 else { return try authorities.forEach { try ask($0, file) } }
        let names = authorities.map { "\($0.subject) \($0.fingerprint)" }.joined(separator: "; ")
        throw Failure(
            .usage,
            "\(InputFile.name(file)): several authorities are at the top of its chains: \(names)",
            hints: [
                "name the one whose fingerprint the authority publishes: smime trust add \(shell: file) --fingerprint FINGERPRINT"
            ]
        )
    }

    private static func ask(_ authority: Certificate, _ file: String) throws {
        let command = "smime trust add \(shell: file) --fingerprint \(authority.fingerprint)"
        try Confirmation.ask(question(about: authority), unless: false, by: command)
    }

    private static func question(about certificate: Certificate) -> String {
        let effect = certificate.isCertificateAuthority ? ", and every certificate that it issued" : ""
        return
            "\(certificate.identified) would be trusted\(effect): compare the fingerprint with the one that the authority "
            + "publishes"
    }
}
