import ByteStreams
package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

/// Stores what files hold, and learns from the mail among them: the steps of an import, in their order.
package struct FileImport {
    /// The result of the import.
    package struct Outcome: Sendable {
        /// The store, which is still open.
        package let store: Store
        /// What was stored, including what was learned.
        package let report: ImportReport
        /// The problems of the files.
        package let problems: [Problem]
        package let advice: [ImportPlan.Advice]
        package let nextSteps: [ImportStep]
        /// The accounts that got identities.
        package let accounts: [Account]
        /// The known faults of their certificates.
        package let verdicts: CertificateVerdicts
        /// Why learning ended early; nil if it did not. What was stored and learned until then stays.
        package let failure: (any Error)?
    }

    /// The account that gets the identities, whatever addresses they name; nil for the accounts of those addresses.
    private let account: EmailAddress?
    /// Whether authorities become anchors, and the other certificates are pinned.
    private let trust: Bool
    /// How a learned certificate by another issuer or for another key than before is treated.
    private let onChange: ChangePolicy
    /// Whether the system's trust anchors count for mail.
    private let systemAnchors: Bool
    private let time: Date

    package init(
        for account: EmailAddress? = nil,
        trusting trust: Bool = false,
        onChange: ChangePolicy = .sameRoot,
        systemAnchors: Bool = true,
        at time: Date
    ) {
        self.account = account
        self.trust = trust
        self.onChange = onChange
        self.systemAnchors = systemAnchors
        self.time = time
    }

    /// Whether `contents` has a certificate that may renew one for a key in the store.
    package static func mayRenew(_ contents: ImportedFiles) -> Bool {
        contents.certificates.contains { !$0.isCertificateAuthority }
    }

    /// Stores what is in `contents`, all or nothing, and then learns from its mail, which the new anchors may make valid.
    ///
    /// - Parameters:
    ///   - existing: the store, if there is one already.
    ///   - writable: opens the store if `existing` is nil; called once it is known that there is something to store.
    ///   - unreadable: called for mail that cannot be read.
    ///   - learned: called with what was learned from each batch of mail.
    ///   - warn: called for what was ignored, such as files that are no revocation lists.
    ///   - describe: the sentence about an error for a problem.
    /// - Throws: `AgentError.unnamedIdentity`, `.nothingToImport`, `.nothingLearned`, `KeystoreError`, and why learning ended if
    ///   there was nothing else to store.
    package func run(
        _ contents: ImportedFiles,
        into existing: Store?,
        or writable: () async throws -> Store,
        unreadable: (any Error) -> Void = { _ in },
        learned: (LearningReport) -> Void = { _ in },
        warn: @escaping @Sendable (String) -> Void = { _ in },
        describe: (any Error) -> String = { "\($0)" }
    ) async throws -> Outcome {
        var plan = ImportPlan(account: account, trust: trust, now: time)
        try plan.add(
            contents,
            renewals: try await existing?.renewals(among: contents.certificates, for: account) ?? []
        )
        let store = if let existing { existing } else { try await writable() }
        var report = try await store.add(plan.batch, at: time)
        let harvested = await harvest(contents.mails, in: store, unreadable, warn) {
            learned($0)
            report.add($0)
        }
        plan.note(Self.problems(of: harvested, contents.mails, describe))
        if !report.isFruitful, let failure = harvested.failure { throw failure }
        guard report.isFruitful || contents.mails.isEmpty else { throw AgentError.nothingLearned(plan.problems.last) }
        let accounts = try await store.accounts(after: report)
        return Outcome(
            store: store,
            report: report,
            problems: plan.problems,
            advice: plan.advice,
            nextSteps: try await store.nextSteps(after: report, systemAnchors: systemAnchors, at: time),
            accounts: accounts,
            verdicts: try await store.verdicts(on: accounts, at: time, warn: warn),
            failure: harvested.failure
        )
    }

    /// Learns from signed mail in batches, so that a mailbox may have any size.
    private func harvest(
        _ mails: [(file: String, source: any ByteSource)],
        in store: Store,
        _ unreadable: (any Error) -> Void,
        _ warn: @escaping @Sendable (String) -> Void,
        learned: (LearningReport) -> Void
    ) async -> HarvestSummary {
        guard !mails.isEmpty else { return HarvestSummary() }
        let provider = StoreKeyProvider(store, systemAnchors: systemAnchors, warn: warn)
        let harvest = Harvest(
            store: store,
            opener: MessageOpener(provider, at: time),
            policy: onChange,
            jobs: ProcessInfo.processInfo.activeProcessorCount
        )
        return await harvest.run(MailSources(opened: mails), unreadable: unreadable, learned: learned)
    }

    /// The problems of mail from which nothing is learned.
    private static func problems(
        of summary: HarvestSummary,
        _ mails: [(file: String, source: any ByteSource)],
        _ describe: (any Error) -> String
    ) -> [Problem] {
        var problems = summary.refused.map { refusal in
            let why =
                switch refusal.reason {
                case .verdict(let text): text
                case .error(let error): describe(error)
                }
            return Problem(.notLearned, "\(refusal.place.name): nothing learned: \(why)")
        }
        if summary.unsigned > 0 {
            let name =
                summary.messages == 1
                ? mails.first?.file ?? "" : "\(summary.unsigned) of \(summary.messages) messages"
            problems.append(Problem(.notLearned, "\(name): nothing learned: not signed"))
        }
        return problems
    }
}
