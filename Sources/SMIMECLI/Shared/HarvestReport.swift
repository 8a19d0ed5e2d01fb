import Foundation
import SMIMEStore

/// The report of `harvest`.
struct HarvestReport: Encodable {
    struct Refusal: Encodable {
        let file: String
        let message: Int?
        let reason: String
    }

    /// A message that is valid only without the quoting of the mailbox it lies in.
    struct Unquoting: Encodable {
        let file: String
        let message: Int?
    }

    /// How many refusals and the like are named; the others are counted.
    private static let maximumCount = 10_000

    var messages = 0
    /// How many of them nobody signed.
    var unsigned = 0
    private(set) var learned: [LearnedReport] = []
    private(set) var renewed: [LearnedReport] = []
    private(set) var changed: [LearnedReport] = []
    private(set) var refused: [Refusal] = []
    private(set) var refusedCount = 0
    /// Messages that were signed before a mailbox quoted their lines "From ".
    private(set) var unquoted: [Unquoting] = []
    var isInterrupted = false
    /// The status of the worst of the paths that could not be read.
    var worst = ExitStatus.success
    /// What ended it before its time.
    var failure: Failure?

    private enum CodingKeys: String, CodingKey {
        case messages, unsigned, learned, renewed, changed, refused, refusedCount, unquoted
        case isInterrupted = "interrupted"
    }

    mutating func refuse(_ place: MailSources.Place, _ reason: String) {
        refusedCount += 1
        guard refused.count < Self.maximumCount else { return }
        refused.append(Refusal(file: place.file, message: place.number, reason: reason))
    }

    mutating func unquote(_ place: MailSources.Place) {
        guard unquoted.count < Self.maximumCount else { return }
        unquoted.append(Unquoting(file: place.file, message: place.number))
    }

    mutating func add(_ report: LearningReport) {
        for entry in report.entries {
            switch entry.kind {
            case .changed: changed.append(LearnedReport(entry))
            case .learned: learned.append(LearnedReport(entry))
            case .renewed: renewed.append(LearnedReport(entry))
            }
            if entry.kind == .changed { entry.announce() }
        }
    }

    var text: String {
        var table = TextTable()
        for entry in learned + renewed + changed {
            table.add(entry.change, entry.address, "\(entry.fingerprint)", entry.held ? "held" : "")
        }
        for refusal in refused {
            table.add(
                "refused",
                refusal.message.map { "\(refusal.file), message \($0)" } ?? refusal.file,
                refusal.reason
            )
        }
        for entry in unquoted {
            let name = entry.message.map { "\(entry.file), message \($0)" } ?? entry.file
            table.add("unquoted", name, "valid as it was before the mailbox put > in front of its lines \"From \"")
        }
        let counts = [(learned.count, "learned"), (renewed.count, "renewed"), (changed.count, "changed")]
        let words = (counts + [(refusedCount, "refused")]).map { "\($0.0) \($0.1)" }
        return table.text + "\(counted(messages, "message")): \(words.joined(separator: ", "))\n"
    }
}
