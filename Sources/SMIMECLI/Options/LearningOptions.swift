import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// For verbs that learn from mail they have verified.
struct LearningOptions: ParsableArguments {
    @Option(name: .customLong("on-change"), help: .onChange)
    var given: ChangePolicy?

    var onChange: ChangePolicy { given ?? .sameRoot }
}

extension ArgumentHelp {
    static let noHarvest: ArgumentHelp = "Do not learn the sender's certificate from a valid signature."
    static let onChange = ArgumentHelp(
        """
        A certificate by another issuer or for another key than those known: use it, hold it back until `recipient \
        trust`, or use it only below the same trust anchor and over no certificate that a person imported. (default: same-root)
        """,
        valueName: "use|hold|same-root"
    )
}

/// The same for verbs that learn by the way, unless told otherwise. No group inside a group: those take the parser longer.
struct HarvestOptions: ParsableArguments {
    @Flag(name: .customLong("no-harvest"), help: .noHarvest) var isOff = false
    @Option(name: .customLong("on-change"), help: .onChange)
    var given: ChangePolicy?

    var onChange: ChangePolicy { given ?? .sameRoot }
}

extension Learning {
    /// What there is to learn from `messages`; looked up before the verdict is told, for the report. A failure is a warning.
    func previewForReport(_ messages: [VerifiedMessage]) async -> LearningReport {
        do throws(KeystoreError) { return try await preview(messages) } catch {
            Console.warning("not learned: \(Failure(error).message)")
            return LearningReport()
        }
    }

    /// Learns from `messages` and says what was learned. A failure is a warning.
    func learnAndTell(_ messages: [VerifiedMessage]) async {
        do throws(KeystoreError) { try await learn(messages)?.entries.forEach { $0.announce() } } catch {
            Console.warning("not learned: \(Failure(error).message)")
        }
    }
}

extension LearningReport.Entry {
    /// Says what was learned, on standard error; a change as a warning, with what to do about it.
    func announce() {
        guard kind == .changed || isHeld else {
            return Console.note("\(kind.rawValue) \(address) \(certificate.fingerprint)")
        }
        let before = previous.map { ", until now \($0.fingerprint) by \($0.issuer)" } ?? ""
        Console.warning(
            "\(address): \(kind.rawValue) certificate \(certificate.fingerprint) by \(certificate.issuer)\(before)"
        )
        let verb = isHeld ? "trust" : "distrust"
        let when = isHeld ? "to use it once its fingerprint was compared" : "if its owner does not know of it"
        Console.hint("\(when): smime recipient \(verb) \(shell: address) --fingerprint \(certificate.fingerprint)")
    }
}

/// A certificate that was learned, as reports show it.
struct LearnedReport: Encodable {
    let address: String
    let fingerprint: Fingerprint
    let notAfter: Date
    let change: String
    let held: Bool
    let previous: Fingerprint?
    let messageId: String?

    init(_ entry: LearningReport.Entry) { self.init(HarvestSummary.Learned(entry)) }

    init(_ learned: HarvestSummary.Learned) {
        address = learned.address.text
        fingerprint = learned.fingerprint
        notAfter = learned.notAfter
        change = learned.kind.rawValue
        held = learned.isHeld
        previous = learned.previous
        messageId = learned.messageID
    }
}
