import ArgumentParser
import Foundation
import SMIMEStore

extension SMIMECommand {
    struct Unlock: AsyncParsableCommand {
        /// The longest time for which a store can be unlocked, in seconds: a week.
        private static let maximumDuration = 7 * 86_400.0

        static let configuration = CommandConfiguration(
            commandName: "unlock",
            _superCommandName: SMIMECommand.name,
            abstract: "Keep the store's key in memory for a time.",
            discussion: """
                For a store with a passphrase (`smime store protect passphrase`). Commands that need a private key \
                then do not ask for the passphrase. The key is forgotten when the time is over, with `smime lock`, \
                when the passphrase or the store's key changes, and at logout if the system then removes the user's \
                runtime directory (systemd does).

                Meanwhile every program of your user account can use the key, too, such as `smime sendmail` when your \
                mail program or a cron job calls it. filter and serve never use the key. A command with a --password \
                option uses that passphrase instead.

                  smime unlock
                  smime unlock --for 8h
                  smime unlock --for 30m
                """
        )

        @Option(
            name: .customLong("for"),
            help: ArgumentHelp(
                "How long to keep the key, such as 30m, 8h or 2d; at most a week. (default: 8h)",
                valueName: "time"
            ),
            transform: Self.duration
        )
        var duration: TimeInterval = 8 * 3600
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        private static func duration(_ text: String) throws -> TimeInterval {
            let (unit, number) = (text.last, Double(text.dropLast()))
            let shortUnit: TimeInterval? =
                switch unit {
                case "m": number.map { $0 * 60 }
                case "s": number
                default: nil
                }
            guard let duration = shortUnit ?? (try? TimeOptions.interval(text)) else {
                throw ValidationError("'\(text)' is not a time like 30m, 8h or 2d")
            }
            guard duration >= 1, duration <= maximumDuration else {
                throw ValidationError("'\(text)' is not between 1s and 7d")
            }
            return duration
        }

        func run() async throws {
            let store = try await global.existingStore(.readOnly, password: passwords.origin)
            guard let (name, key) = try await store.keyForAgent() else {
                if report.json { try Report.print(UnlockReport(unlocked: false, until: nil)) }
                return Console.note(
                    "the store has no passphrase: its key file opens it, and there is nothing to unlock"
                )
            }
            try await store.close()
            let folder = KeyAgentUse.client.folder
            try folder.create()
            KeyAgentUse.client.forget(name)
            try KeyAgentProcess.start(key, named: name, in: folder, for: duration)
            let end = Date.now.addingTimeInterval(duration)
            if report.json { try Report.print(UnlockReport(unlocked: true, until: end)) }
            Console.note("unlocked until \(end.formatted(.iso8601)); to end this earlier: smime lock")
        }

        private struct UnlockReport: Encodable {
            /// Whether an agent keeps the store's key; false for a store without a passphrase.
            let unlocked: Bool
            let until: Date?
        }
    }

    struct Lock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock",
            _superCommandName: SMIMECommand.name,
            abstract: "Forget the keys that `smime unlock` keeps in memory.",
            discussion: """
                The keys of all your stores are forgotten. The next command that needs a private key asks for the \
                passphrase again.

                  smime lock
                  smime lock --json
                """
        )

        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() throws {
            let client = KeyAgentUse.client
            let (count, isSure) = client.forgetAll()
            guard isSure else {
                throw Failure(
                    .unavailable,
                    "\(client.folder.path): an agent did not answer, and may still have a key",
                    hints: ["end it: pkill smime-key-agent"]
                )
            }
            if report.json { try Report.print(["keys": count]) }
            Console.note(count == 0 ? "nothing was unlocked" : "locked")
        }
    }
}
