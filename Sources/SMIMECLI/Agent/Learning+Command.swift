import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension Learning {
    /// What would be learned from `messages`. The report shows this and is printed before learning. An error is reported as a
    /// warning.
    func previewForReport(_ messages: [VerifiedMessage]) async -> LearningReport {
        do throws(KeystoreError) { return try await preview(messages) } catch {
            Console.warning("not learned: \(Failure(error).message)")
            return LearningReport()
        }
    }

    /// Learns from `messages` and reports what was learned. An error is reported as a warning.
    func learnAndReport(_ messages: [VerifiedMessage]) async {
        do throws(KeystoreError) { try await learn(messages)?.entries.forEach { $0.announce() } } catch {
            Console.warning("not learned: \(Failure(error).message)")
        }
    }
}

extension LearningReport {
    /// The entries of a preview about the certificates in `message`, one of the messages that were previewed. A
    /// certificate that several messages contain has an entry for each message.
    func entries(about message: VerifiedMessage?) -> [Entry] {
        guard let message else { return [] }
        let own = entries.filter { $0.address == message.author && $0.messageID == message.messageID }
        return [message.signerCertificate, message.encryptionCertificate].compactMap { certificate in
            own.first { $0.certificate == certificate }
        }
    }
}

extension LearningReport.Entry {
    /// Reports on standard error what was learned; a changed or held certificate is reported as a warning, with what to
    /// do about it.
    func announce() {
        guard kind == .changed || isHeld else {
            return Console.note("\(kind.rawValue) \(address) \(certificate.fingerprint)")
        }
        let restriction = isHeld ? ", not used until you trust it" : ""
        let before = previous.map { "; known before: \($0.fingerprint) by \($0.issuer)" } ?? ""
        Console.warning(
            "\(address): \(kind.rawValue) certificate \(certificate.fingerprint) by \(certificate.issuer)\(restriction)\(before)"
        )
        let verb = isHeld ? "trust" : "distrust"
        let when =
            isHeld
            ? "to use it after comparing its fingerprint" : "if \(address) does not recognize this certificate"
        Console.hint("\(when): smime recipient \(verb) \(shell: address) --fingerprint \(certificate.fingerprint)")
    }
}

extension Store {
    /// The known faults of the certificates of `accounts`. If the folder of revocation lists cannot be read, a warning says
    /// so.
    func verdicts(on accounts: [Account], at time: Date) async throws -> CertificateVerdicts {
        try await verdicts(on: accounts, at: time, warn: Console.warning)
    }
}

extension CurrentIdentities {
    /// A line for each identity.
    var notes: [String] {
        choices.map { choice in
            let purpose = choice.purpose.map { "for \($0.rawValue) " } ?? ""
            return
                "\(account): the current identity \(purpose)is \(choice.certificate.fingerprint), \(choice.preferenceReason.words)"
        }
    }
}

extension IdentitySelection.PreferenceReason {
    /// The text after the certificate.
    fileprivate var words: String {
        switch self {
        case .newest: "the newest"
        case .only: "the only one that can be used"
        case .pinned: "which is pinned"
        case .trusted: "because the chain of a newer one is not trusted here"
        }
    }
}
