import ByteStreams
import Foundation
import InternetMessage
import PKIX
package import SMIME
package import SMIMEStore

/// Learns from many messages: verifies several messages at once, and stores the results in batches.
package struct Harvest: Sendable {
    /// How many messages go into one transaction.
    private static let batchSize = 250

    private let store: Store
    private let opener: MessageOpener
    private let policy: ChangePolicy
    private let jobs: Int

    /// - Parameters:
    ///   - opener: verifies the messages.
    ///   - policy: how to treat a certificate with another issuer or another key than the known certificates.
    ///   - jobs: how many messages are verified at once.
    package init(store: Store, opener: MessageOpener, policy: ChangePolicy, jobs: Int) {
        self.store = store
        self.opener = opener
        self.policy = policy
        self.jobs = jobs
    }

    /// The result for one message.
    private enum Verdict: Sendable {
        case failed(KeystoreError)
        case refused(HarvestSummary.Reason)
        case unsigned
        case valid(VerifiedMessage, isUnquoted: Bool)
    }

    /// The result for one message, without the message's content: the results of a whole batch wait in memory before
    /// they are stored.
    private struct Outcome: Sendable {
        let index: Int
        let place: MailSources.Place
        let count: Int
        let verdict: Verdict
    }

    /// Reads `sources` to their end, until `isInterrupted` returns true, or until the store fails. In all three cases the
    /// messages in progress are finished. Unless the store failed, everything learned from them is stored and reported.
    ///
    /// - Parameters:
    ///   - advance: called with the total number of bytes that were processed so far.
    ///   - unreadable: called for each path that cannot be read.
    ///   - learned: called with the result of every batch.
    package func run(
        _ sources: MailSources,
        advance: (Int) -> Void = { _ in },
        unreadable: (any Error) -> Void = { _ in },
        learned: (LearningReport) -> Void = { _ in },
        isInterrupted: () -> Bool = { false }
    ) async -> HarvestSummary {
        var report = HarvestSummary()
        await withTaskGroup(of: Outcome.self) { group in
            var pending: [Outcome] = []
            var started = 0
            var bytes = 0
            while !isInterrupted(), report.failure == nil, let item = next(sources, &report, unreadable: unreadable) {
                if started >= jobs, let outcome = await group.next() {
                    bytes += outcome.count
                    pending.append(outcome)
                    advance(bytes)
                }
                if pending.count >= Self.batchSize { await store(&pending, &report, learned: learned) }
                let index = started
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    Outcome(index: index, place: item.place, count: item.source.count, verdict: await verify(item))
                }
                started += 1
            }
            for await outcome in group {
                bytes += outcome.count
                pending.append(outcome)
                advance(bytes)
            }
            await store(&pending, &report, learned: learned)
        }
        report.isInterrupted = isInterrupted()
        return report
    }

    /// The next message. Directory entries that cannot be opened are added to `report`, paths that cannot be read are
    /// passed to `unreadable`; both are skipped.
    private func next(
        _ sources: MailSources,
        _ report: inout HarvestSummary,
        unreadable: (any Error) -> Void
    ) -> MailSources.Item? {
        while true {
            do { return try sources.next() } catch let refusal as MailSources.Refusal {
                report.refuse(refusal.place, .verdict(refusal.reason))
            } catch {
                unreadable(error)
            }
        }
    }

    private func verify(_ item: MailSources.Item) async -> Verdict {
        do {
            let result = try await opener.verify(item.source)
            if let message = result.learnable { return .valid(message, isUnquoted: false) }
            guard result.report.status != .unsigned else { return .unsigned }
            // A mailbox may have quoted a line of the signed content that begins with "From ".
            if item.place.number != nil, result.report.status == .invalid,
                let unquoted = try MboxQuoting.undone(in: item.source),
                let message = try await opener.verify(unquoted).learnable
            {
                return .valid(message, isUnquoted: true)
            }
            return .refused(.verdict(result.report.reasonNotToLearn))
        } catch let error as KeystoreError { return .failed(error) } catch {
            return .refused(.error(error))
        }
    }

    /// Learns from `pending` in one transaction, in the order of the messages, and empties it.
    ///
    /// The summary includes a message only after its result is stored.
    private func store(
        _ pending: inout [Outcome],
        _ report: inout HarvestSummary,
        learned: (LearningReport) -> Void
    ) async {
        defer { pending = [] }
        guard report.failure == nil else { return }
        let outcomes = pending.sorted { $0.index < $1.index }
        let messages = outcomes.compactMap { outcome -> VerifiedMessage? in
            if case .valid(let message, _) = outcome.verdict { message } else { nil }
        }
        do throws(KeystoreError) {
            let result = try await learn(messages.map(SignerSighting.init))
            report.add(result)
            learned(result)
        } catch {
            report.failure = error
            return
        }
        for outcome in outcomes {
            switch outcome.verdict {
            case .failed(let failure):
                report.failure = report.failure ?? failure
                continue
            case .refused(let reason): report.refuse(outcome.place, reason)
            case .unsigned: report.unsigned += 1
            case .valid(_, let isUnquoted): if isUnquoted { report.addUnquoted(outcome.place) }
            }
            report.messages += 1
        }
    }

    /// Learns from `sightings`; writes to the store only if something changes.
    private func learn(_ sightings: [SignerSighting]) async throws(KeystoreError) -> LearningReport {
        guard !sightings.isEmpty else { return LearningReport() }
        let preview = try await store.recipients.preview(sightings, at: .now, onChange: policy)
        guard preview.changesStore else { return preview }
        return try await store.recipients.learn(sightings, at: .now, onChange: policy)
    }
}

extension VerificationReport {
    /// Why nothing is learned from the message, in a few words.
    fileprivate var reasonNotToLearn: String {
        guard status != .valid else {
            let weakness = signers.flatMap(\.problems).first(where: \.kind.isWeakness)
            return weakness.map { "weak: \($0.text)" } ?? "not signed by its author alone"
        }
        let problem = (problems + signers.flatMap(\.problems)).first { $0.level == .error }
        return problem.map { "\(status.rawValue): \($0.text)" } ?? status.rawValue
    }
}
