import ArgumentParser
import Foundation
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct HarvestCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "harvest",
            abstract: "Learn certificates from existing signed mail.",
            discussion: """
                Stores the signer's certificate of each valid mail, for the sender's address. Certificates \
                that were stored before Ctrl-C are kept.

                  smime harvest ~/Maildir archive.mbox
                  smime harvest mail-from-bob.eml
                  smime harvest --json < inbox.mbox
                """
        )

        @Argument(
            help: ArgumentHelp("Mail files, mboxes, Maildirs, directories; - is standard input.", valueName: "path"),
            completion: .file()
        )
        var paths: [String] = []
        @Option(help: ArgumentHelp("Verify this many mails at once. (default: one for each core)", valueName: "n"))
        var jobs: Int?
        @OptionGroup var learning: LearningOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var revocation: RevocationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if paths.count(where: { $0 == "-" }) > 1 {
                throw ValidationError("standard input can be read only once")
            }
            if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
        }

        func run() async throws {
            let paths = paths.isEmpty ? ["-"] : paths
            let sources = MailSources(paths, standardInput: paths.contains("-") ? try InputFile.open("-") : nil)
            let interruption = Interruption()
            let store = try await global.store(.readWrite)
            let provider = StoreKeyProvider(store, systemAnchors: anchors.systemAnchors, warn: Console.warning)
            let harvest = Harvest(
                store: store,
                opener: MessageOpener(provider, at: .now, options: revocation.validation),
                policy: learning.onChange,
                jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount
            )
            let progress = ProgressBar(total: sources.count())
            var unreadable = UnreadablePaths()
            let result = await harvest.run(
                sources,
                advance: progress.advance,
                unreadable: { unreadable.add($0) },
                learned: { $0.announceChanges() },
                isInterrupted: { interruption.isPending }
            )
            progress.clear()
            // After a failure, the store is closed if possible. The certificates that were learned before are always
            // reported.
            if result.failure == nil { try await store.close() } else { try? await store.close() }
            let lines = HarvestReport(result, unreadable: unreadable.worstFailure)
            try report.print(lines) { lines.text }
            if let failure = result.failure { throw failure }
            guard !result.isInterrupted else { throw Failure(.tryAgain, "interrupted; what was learned is kept") }
            try [unreadable.worst].throwWorst()
        }
    }
}
