import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension RecipientPlan.Warning {
    /// The warning as a sentence for the user.
    var text: String {
        if case .noAuthor = self { "\(self), and --from names no account" } else { description }
    }
}

extension RecipientPlan.Copy {
    /// The path of the Bcc copy with this number, if the first copy has `path`: STEM.bcc1.EXT. `path` itself if `number` is
    /// nil.
    static func path(_ path: String, number: Int?) -> String {
        guard let number else { return path }
        let url = URL(filePath: path)
        let stem = url.deletingPathExtension().relativePath
        return url.pathExtension.isEmpty ? "\(stem).bcc\(number)" : "\(stem).bcc\(number).\(url.pathExtension)"
    }
}

extension Certificate {
    /// The certificates in `files`, unverified.
    static func unchecked(from files: [String]) throws -> [Certificate] {
        try files.flatMap { file in
            let items: [KeyMaterial]
            do { items = try KeyMaterial.read(InputFile.bytes(of: file)) } catch { throw Failure(error, in: file) }
            let certificates = try items.uncheckedRecipients(of: file)
            for certificate in certificates { Console.warning("\(file): used unchecked: \(certificate.subject)") }
            return certificates
        }
    }
}

extension Failure {
    /// Hints for recipients without a usable certificate.
    static func hints(for choices: [RecipientChoice]) -> [String] {
        choices.map { choice in
            if choice.isUnknown {
                return
                    "repair the source (`smime doctor` shows it), or remove its setting (smime config list: lookup.…)"
            }
            if choice.candidates.contains(where: { $0.reason == .anchorUnreadable }) {
                return "repair the folder of the system's trust anchors; on Debian: update-ca-certificates"
            }
            if choice.isUndecided {
                return
                    "too many authorities or revocation lists have the name of the certificate's issuer; lists of another "
                    + "authority with this name can be removed: smime trust list"
            }
            if let distrusted = choice.candidates.first(where: { $0.reason == .distrusted }) {
                let certificate = distrusted.recipient.certificate.fingerprint
                let known = distrusted.recipient.address
                return "to trust it again: smime recipient trust \(shell: known) --fingerprint \(certificate)"
            }
            if let doubtful = choice.candidates.first(where: { [.authority, .held].contains($0.reason) })?.recipient {
                let certificate = doubtful.certificate.fingerprint
                let address = doubtful.address
                guard doubtful.rank == 0 else {
                    return "to use it anyway, compare its fingerprint, then: "
                        + "smime recipient export \(shell: address) --fingerprint \(certificate) -o FILE, "
                        + "and smime recipient add \(shell: address) FILE --trust"
                }
                return "to use it anyway, compare its fingerprint, then: "
                    + "smime recipient trust \(shell: address) --fingerprint \(certificate)"
            }
            guard !choice.waitsForRevocation else {
                return
                    "try again when the revocation service of the certificate's issuer answers, or accept an unknown status: "
                    + "--revocation soft"
            }
            guard let untrusted = choice.candidates.first(where: { $0.reason == .untrusted })?.recipient else {
                return
                    "add a certificate, or a signed mail that has it: smime recipient add \(shell: choice.address) FILE"
            }
            // A certificate that is not in the registry is pinned with `recipient add … --trust`. If it comes from a
            // folder, the hint names its file.
            let file = untrusted.source == .directory ? untrusted.sourceDetail : nil
            let pin =
                untrusted.rank == 0
                ? "trust \(shell: untrusted.address)"
                : "add \(shell: untrusted.address) \(shell: file ?? "FILE") --trust"
            return
                "trust its root (smime trust add FILE), with every authority below the root imported (smime import FILE); "
                + "or compare fingerprints and: smime recipient \(pin)"
        }
    }
}

extension MessageProtector {
    /// Warns of fields that stay unprotected although the header protection policy covers them.
    func warnOfUnprotected(_ name: String, isEncrypted: Bool) {
        let names = unprotectedNames(isEncrypted: isEncrypted)
        guard !names.isEmpty else { return }
        Console.warning("\(name): header fields that stay unprotected: \(names.listedForDisplay)")
    }
}

extension ArgumentHelp {
    static let online: ArgumentHelp = """
        Ask the services named in certificates about revocation if the store has no answer; the services learn that \
        you use these certificates. (default: by the setting revocation.online)
        """
}

extension OnlineRevocation {
    /// The exit status for `report`: 69 if the report's verdict is negative only because a service did not answer.
    func status(for report: VerificationReport) async -> ExitStatus {
        await isUndecided(report) ? .unavailable : report.exitStatus
    }

    /// Prints which services did not answer, and stores the answers of the others.
    ///
    /// - Throws: the error of opening the store or of reading its settings
    func finish() async throws {
        if let failure { throw Failure(failure) }
        for text in await warnings { Console.warning(text) }
        if let text = await keepOrExplain() { Console.warning(text) }
    }
}

extension Store {
    /// What the store knows about the signer that decides the verdict of `report`. Empty unless the verdict is `untrusted`.
    func context(of report: VerificationReport) async throws(KeystoreError) -> SignerContext {
        var context = SignerContext()
        guard report.status == .untrusted, exists, let signer = report.decidingSigner,
            let certificate = signer.certificate, let address = signer.address.flatMap({ try? EmailAddress($0) })
        else { return context }
        let account = try await accounts.account(ifAnyFor: address)
        context.isAccount = account != nil
        context.isOwn = account?.identities.contains { $0.certificate == certificate } == true
        guard !context.isOwn else {
            context.chainEnd = try await anchors.chainEnd(above: certificate)
            return context
        }
        context.difference = try await otherCertificates(than: certificate, of: AddressScope(address)).text
        return context
    }
}
