package import ByteStreams
package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

/// Imports files: stores the keys and certificates in them, then learns from the mail among them.
package struct FileImport {
    /// The result of the import.
    package struct Outcome: Sendable {
        /// The store. It is still open.
        package let store: Store
        /// What was stored and what was learned.
        package let report: ImportReport
        /// The problems with the files.
        package let problems: [Problem]
        package let advice: [ImportPlan.Advice]
        package let nextSteps: [ImportStep]
        /// The accounts that received identities.
        package let accounts: [Account]
        /// The known faults of the certificates of `accounts`.
        package let verdicts: CertificateVerdicts
        /// Why learning ended early; nil if it did not. Everything that was stored and learned before remains.
        package let failure: (any Error)?
    }

    /// The account that receives the identities, even if they name other addresses; if nil, the accounts of the addresses
    /// that they name.
    private let account: EmailAddress?
    /// Whether authorities become trust anchors, and other certificates are pinned.
    private let trust: Bool
    /// How to treat a learned certificate with another issuer or another key than the known certificates.
    private let onChange: ChangePolicy
    /// Whether the system's trust anchors are used for mail.
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

    /// Whether `contents` has a certificate that may renew the certificate of a key in the store.
    package static func mayRenew(_ contents: ImportedFiles) -> Bool {
        contents.certificates.contains { !$0.isCertificateAuthority }
    }

    /// Stores the items in `contents` in one transaction, and then learns from its mail. The new trust anchors may make that
    /// mail valid.
    ///
    /// - Parameters:
    ///   - existing: the store; nil if there is none yet.
    ///   - writable: opens the store if `existing` is nil; called only if there is something to store, or mail to learn
    ///     from.
    ///   - unreadable: called for mail that cannot be read.
    ///   - learned: called with the result of each batch of mail.
    ///   - warn: called for what was ignored in the folder of revocation lists, such as files without a list.
    ///   - describe: makes the sentence of a problem from an error.
    /// - Throws: `AgentError.unnamedIdentity`, `.unconfirmedKey`, `.nothingToImport`, `.nothingLearned`, `KeystoreError`,
    ///   and the reason why learning ended early if nothing was stored or learned.
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
        if account == nil, !trust { try await store.confirm(plan.batch, systemAnchors: systemAnchors, at: time) }
        var report = try await store.add(plan.batch, at: time)
        let harvested = await harvest(contents.mails, in: store, unreadable: unreadable, warn: warn) {
            learned($0)
            report.add($0)
        }
        plan.note(Self.problems(of: harvested, contents.mails, describe))
        if !report.hasContent, let failure = harvested.failure { throw failure }
        guard report.hasContent || contents.mails.isEmpty else { throw AgentError.nothingLearned(plan.problems.last) }
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

    /// Learns from signed mail in batches, so that memory does not limit the size of a mailbox.
    private func harvest(
        _ mails: [(file: String, source: any ByteSource)],
        in store: Store,
        unreadable: (any Error) -> Void,
        warn: @escaping @Sendable (String) -> Void,
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

extension KeyMaterial {
    /// The limit for a file that begins with `head`; nil for mail, which may be of any size. For `Input.open`.
    package static func limit(for head: any ByteSource) throws -> Int? {
        try MailSources.beginsAsMail(head) ? nil : maximumFileBytes
    }

    /// Rejects a file of keys or certificates that is too big.
    ///
    /// - Throws: `AgentError.tooBigForKeys`
    package static func checkSize(of source: any ByteSource, at path: String) throws {
        guard source.count > maximumFileBytes, try !MailSources.beginsAsMail(source) else { return }
        throw AgentError.tooBigForKeys(file: path)
    }
}
