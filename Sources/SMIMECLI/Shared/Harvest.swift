import CMS
import Foundation
import Keystore
import SMIME
import Streams

/// Learns from many messages: several are verified at once, and what they taught is stored in batches.
struct Harvest {
    /// How many messages go into one transaction.
    private static let batchSize = 250

    let store: Store
    let opener: MessageOpener
    let policy: ChangePolicy
    let jobs: Int

    /// What came of one message.
    private enum Verdict: Sendable {
        case refused(String)
        case unsigned
        case valid(VerifiedMessage)
    }

    private struct Outcome: Sendable {
        let index: Int
        let item: MailSources.Item
        let verdict: Verdict
    }

    /// Goes through `sources` to their end, or until `isInterrupted` says so; what was begun is finished and kept.
    func run(
        _ sources: MailSources,
        advance: (Int) -> Void = { _ in },
        isInterrupted: () -> Bool = { false }
    ) async throws -> HarvestReport {
        var report = HarvestReport()
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            var pending: [Outcome] = []
            var started = 0
            var bytes = 0
            while !isInterrupted(), let item = next(sources, &report) {
                if started >= jobs, let outcome = try await group.next() {
                    bytes += outcome.item.source.count
                    pending.append(outcome)
                    advance(bytes)
                }
                if pending.count >= Self.batchSize { try await store(&pending, &report) }
                let index = started
                group.addTask { Outcome(index: index, item: item, verdict: try await verify(item)) }
                started += 1
            }
            for try await outcome in group { pending.append(outcome) }
            try await store(&pending, &report)
        }
        report.isInterrupted = isInterrupted()
        return report
    }

    /// The next message; what cannot be read is noted and passed over.
    private func next(_ sources: MailSources, _ report: inout HarvestReport) -> MailSources.Item? {
        while true {
            do { return try sources.next() } catch {
                let failure = Failure(error)
                Console.error(failure.message)
                report.worst = max(report.worst, failure.status)
            }
        }
    }

    private func verify(_ item: MailSources.Item) async throws -> Verdict {
        let result: VerifiedContent
        do { result = try await opener.verify(item.source) } catch let error as KeystoreError { throw error } catch {
            return .refused(Failure(error).message)
        }
        if let message = result.message { return .valid(message) }
        guard result.report.status != .unsigned else { return .unsigned }
        return .refused(result.report.reason)
    }

    /// Learns from `pending` in one transaction, in the order of the messages, and empties it.
    private func store(_ pending: inout [Outcome], _ report: inout HarvestReport) async throws {
        var messages: [VerifiedMessage] = []
        for outcome in pending.sorted(by: { $0.index < $1.index }) {
            report.messages += 1
            switch outcome.verdict {
            case .refused(let reason): report.refuse(outcome.item, reason)
            case .unsigned: break
            case .valid(let message): messages.append(message)
            }
        }
        pending = []
        guard !messages.isEmpty else { return }
        let sightings = messages.map(SignerSighting.init)
        guard try await store.recipients.preview(sightings, at: .now, onChange: policy).changesStore else { return }
        report.add(try await store.recipients.learn(sightings, at: .now, onChange: policy))
    }
}

/// The report of `harvest`.
struct HarvestReport: Encodable {
    struct Refusal: Encodable {
        let file: String
        let message: Int?
        let reason: String
    }

    /// How many refusals are named; the others are counted.
    private static let maximumRefusals = 10_000

    var messages = 0
    private(set) var learned: [LearnedReport] = []
    private(set) var renewed: [LearnedReport] = []
    private(set) var changed: [LearnedReport] = []
    private(set) var refused: [Refusal] = []
    private(set) var refusedCount = 0
    var isInterrupted = false
    /// The status of the worst of the paths that could not be read.
    var worst = ExitStatus.success

    private enum CodingKeys: String, CodingKey {
        case messages, learned, renewed, changed, refused, refusedCount
        case isInterrupted = "interrupted"
    }

    mutating func refuse(_ item: MailSources.Item, _ reason: String) {
        refusedCount += 1
        guard refused.count < Self.maximumRefusals else { return }
        refused.append(Refusal(file: item.file, message: item.number, reason: reason))
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
        let counts = [(learned.count, "learned"), (renewed.count, "renewed"), (changed.count, "changed")]
        let words = (counts + [(refusedCount, "refused")]).map { "\($0.0) \($0.1)" }
        return table.text + "\(messages) messages: \(words.joined(separator: ", "))\n"
    }
}

extension VerificationReport {
    /// Why nothing is learned from it, in a few words.
    var reason: String {
        guard status != .valid else { return "not signed by its author alone" }
        let axes = signers.flatMap { [$0.integrity, $0.chain, $0.revocation, $0.time, $0.identity] }
        let problem = (problems + axes.flatMap(\.problems)).first { $0.level == .error }
        return problem.map { "\(status.rawValue): \($0.text)" } ?? status.rawValue
    }
}
