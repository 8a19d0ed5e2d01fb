import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.RecipientCommand.Trust {
    /// Pins the certificate that signed the mail at `path`. The user confirms it, unless a complete fingerprint names it.
    func trustSigner(of path: String) async throws {
        let (name, target) = (InputFile.name(path), target)
        let opening = try target.global.opening(.readOnly)
        guard case .mail(let mail) = try await CertificateInput(opening).read(path) else {
            throw Failure(
                .badData,
                "\(name): not a mail",
                hints: [
                    "to trust the certificates of a file: smime recipient add \(shell: target.address) FILE --trust"
                ]
            )
        }
        let signers = mail.signers(for: target.address).filter { certificate in
            target.fingerprint.map { !$0.matches(among: [certificate.fingerprint]).isEmpty } ?? true
        }
        guard let signer = signers.first else {
            let signed = mail.signers.map { "\($0.fingerprint)" }.joined(separator: ", ")
            throw Failure(.noUser, "\(name): not signed with that certificate, but with \(signed)")
        }
        if !signer.names(target.address) {
            Console.warning("\(signer.subject): does not name \(target.address)")
        }
        try await opening.store().warnOfOthers(than: signer, of: target.address)
        if target.fingerprint?.whole == nil { try FingerprintConfirmation(target.address).ask(signer, path) }
        var batch = ImportBatch()
        _ = batch.add([signer], authorities: mail.authorities(above: [signer]), for: target.address, isPinned: true)
        guard !batch.recipients.isEmpty else {
            throw Failure(.badData, "\(name): signed with a CA certificate")
        }
        let store = try await target.global.store(.readWrite)
        _ = try await store.add(batch, at: .now)
        try await store.close()
        try await target.run("pinned") { store in
            let pinned = try await store.recipients.setTrust(
                .pinned,
                of: target.address,
                fingerprint: signer.fingerprint
            )
            try await store.learn(from: path)
            return pinned
        }
    }
}

extension Store {
    /// Learns the capabilities that the mail at `path` announces, now that its signer is trusted. Does nothing for standard
    /// input, which cannot be read a second time.
    fileprivate func learn(from path: String) async throws {
        guard path != "-" else { return }
        let provider = StoreKeyProvider(self, systemAnchors: true, warn: Console.warning)
        let harvest = Harvest(store: self, opener: MessageOpener(provider, at: .now), policy: .hold, jobs: 1)
        if let failure = await harvest.run(MailSources([path])).failure { throw failure }
    }
}

extension MailCertificates {
    /// The signers whose certificates name `address`; all signers if none does.
    func signers(for address: AddressScope) -> [Certificate] {
        let named = signers.filter { $0.names(address) }
        return named.isEmpty ? signers : named
    }
}

/// Asks the user whether fingerprints were compared, before certificates are trusted.
struct FingerprintConfirmation {
    private let address: AddressScope

    init(_ address: AddressScope) { self.address = address }

    /// Asks about the certificate that signed the mail at `path`.
    func ask(_ certificate: Certificate, _ path: String) throws {
        try ask([certificate], by: "--from \(shell: path) --fingerprint \(certificate.fingerprint)")
    }

    /// Asks about certificates that the store knows for the address.
    func ask(_ certificates: [Certificate]) throws {
        let only = certificates.count == 1 ? certificates.first : nil
        try ask(certificates, by: "--fingerprint \(only.map { "\($0.fingerprint)" } ?? "FINGERPRINT")")
    }

    private func ask(_ certificates: [Certificate], by options: String) throws {
        let names = certificates.map(\.identified).joined(separator: "; ")
        let fingerprints = certificates.count == 1 ? "fingerprint" : "fingerprints"
        try Confirmation.ask(
            "\(names) would be trusted for \(address): compare the \(fingerprints) with its owner, but not by mail",
            unless: false,
            by: "smime recipient trust \(shell: address) \(options)"
        )
    }
}

extension Certificate {
    /// The fingerprint and the names, for a question. The fingerprint comes first, because anyone can write a fingerprint into
    /// the name in a certificate.
    var identified: String { "\(fingerprint) (named \(subject.quoted), issued by \(issuer.quoted))" }
}

extension DistinguishedName {
    /// The beginning of the name in quotation marks, which is too short to contain a fingerprint.
    fileprivate var quoted: String {
        let text = "\(self)".escapedForDisplay.replacing("\"", with: "'").unicodeScalars
        return text.count > 48 ? "\"\(Substring(text.prefix(48)))…\"" : "\"\(Substring(text[...]))\""
    }
}
