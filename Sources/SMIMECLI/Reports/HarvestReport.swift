import Foundation
import SMIMEAgent
import SMIMEStore

/// The report of `harvest`.
struct HarvestReport: Encodable {
    struct Refusal: Encodable {
        let file: String
        let message: Int?
        let reason: String
    }

    /// A message whose signature is valid only after the mailbox's quoting is removed.
    struct Unquoting: Encodable {
        let file: String
        let message: Int?
    }

    let messages: Int
    /// How many of the messages are not signed.
    let unsigned: Int
    let learned: [LearnedReport]
    let renewed: [LearnedReport]
    let changed: [LearnedReport]
    let refused: [Refusal]
    let refusedCount: Int
    /// The first messages whose signature is valid only after the mailbox's quoting of lines that begin with "From " is
    /// removed.
    let unquoted: [Unquoting]
    let interrupted: Bool
    /// The worst failure to read a path; nil if all paths were read.
    let error: FailureReport.Cause?

    init(_ summary: HarvestSummary, unreadable: Failure?) {
        messages = summary.messages
        unsigned = summary.unsigned
        func learned(_ kind: LearningReport.Kind) -> [LearnedReport] {
            summary.learned.filter { $0.kind == kind }.map(LearnedReport.init)
        }
        (self.learned, renewed, changed) = (learned(.learned), learned(.renewed), learned(.changed))
        refused = summary.refused.map {
            Refusal(file: $0.place.file, message: $0.place.number, reason: $0.reason.text)
        }
        refusedCount = summary.refusedCount
        unquoted = summary.unquoted.map { Unquoting(file: $0.file, message: $0.number) }
        interrupted = summary.isInterrupted
        error = unreadable.map { FailureReport($0).error }
    }

    var text: String {
        var table = TextTable()
        for entry in learned + renewed + changed {
            table.add(entry.change, entry.address, entry.fingerprint.short, entry.held ? "held" : "")
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
            table.add(
                "unquoted",
                name,
                "valid after removing the > that the mailbox added before lines that begin with \"From \""
            )
        }
        let counts = [(learned.count, "learned"), (renewed.count, "renewed"), (changed.count, "changed")]
        let words = (counts + [(refusedCount, "refused")]).map { "\($0.0) \($0.1)" }
        return table.text + "\(counted(messages, "message")): \(words.joined(separator: ", "))\n"
    }
}

extension HarvestSummary.Reason {
    /// A description of why nothing was learned.
    var text: String {
        switch self {
        case .verdict(let text): text
        case .error(let error): Failure(error).message
        }
    }
}

extension LearningReport {
    /// Reports changed certificates while the harvest continues.
    func announceChanges() { for entry in entries where entry.kind == .changed { entry.announce() } }
}

/// The failures of paths that `harvest` or `import` cannot read.
struct UnreadablePaths {
    /// The first failure with the worst status; nil if there is no failure.
    private(set) var worstFailure: Failure?
    /// The worst status; success if there is no failure.
    var worst: ExitStatus { worstFailure?.status ?? .success }

    /// Reports that a path cannot be read, and why.
    mutating func add(_ error: any Error) {
        let failure = Failure(error)
        Console.error(failure.message)
        if failure.status > worst { worstFailure = failure }
    }
}
