import ArgumentParser
import SMIME
import SMIMEAgent
import SMIMEGateway

extension SMIMECommand {
    struct FilterCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Apply the policy to mail in a mail server.",
            discussion: """
                Status 65 or 67 means that the message must not be sent. The status of every other failure is 75, so \
                that the mail server tries again. docs/filter.md describes how to set up a mail server.

                  smime filter outgoing --sender alice@example.org --queue-id 4XyZ \\
                    -- bob@example.com < mail.eml
                  smime filter outgoing --sender alice@example.org --stdout \\
                    -- bob@example.com < mail.eml
                """,
            subcommands: [Outgoing.self, Incoming.self]
        )
    }
}

extension SMIMECommand.FilterCommand {
    struct Incoming: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "incoming",
            _superCommandName: SMIMECommand.name,
            abstract: "Verify incoming mail, and learn the senders' certificates.",
            discussion: """
                Writes the verdict into an Authentication-Results field (RFC 7281). Removes forged fields of that \
                kind, and X-SMIME fields. Never changes signed content. Decrypts mail for accounts if a rule allows \
                this.

                Every message is delivered with its verdict. Only these messages are rejected (status 65): an empty \
                message, a header of more than 1 MiB, a message that went through this filter many times, and \
                unencrypted or unreadable mail from an account of the store to a recipient for whom a rule requires \
                encryption.

                  smime filter incoming --sender bob@example.com --queue-id 4XyZ \\
                    -- alice@example.org < mail.eml
                  smime filter incoming --sender bob@example.com --dry-run \\
                    -- alice@example.org < mail.eml
                  smime policy set --recipient alice@example.org --decrypt-at-gateway yes
                """
        )

        @OptionGroup var options: FilterOptions
        @OptionGroup var harvest: HarvestOptions

        func run() async throws {
            var engineOptions = options.engineOptions
            engineOptions.onChange = harvest.onChange
            try await options.run(.incoming, engineOptions, learns: !harvest.isOff) { engine, mail in
                await engine.verdict(on: mail)
            } show: {
                try report($0)
            }
        }

        private func report(_ plan: IncomingPlan) throws {
            if options.json { return try Report.print(VerificationOutput(plan.deepestReport, file: "standard input")) }
            let lines = plan.messages.flatMap { message in
                message.recipients.map {
                    "\($0): \(message.isDecrypted ? "decrypted" : "delivered"), \(message.report.status.rawValue)\n"
                }
            }
            let verdict = VerdictSentence(plan.deepestReport, file: nil)
            let details = plan.deepestReport.lines(below: verdict, details: true)
            try Console.print(lines.joined() + ([verdict.text] + details).joined(separator: "\n"))
        }
    }
}

extension SMIMECommand.FilterCommand {
    struct Outgoing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "outgoing",
            _superCommandName: SMIMECommand.name,
            abstract: "Sign and encrypt outgoing mail as the policy says.",
            discussion: """
                Reads the message from standard input, signs and encrypts it, and passes it to sendmail: one message \
                for all recipients who may get the same message. Nothing is sent before all messages are signed and \
                encrypted.

                With --stdout the result goes to standard output if all recipients get the same message. Otherwise \
                nothing is written, and the status is 75.

                  smime filter outgoing --sender alice@example.org --queue-id 4XyZ \\
                    -- bob@example.com < mail.eml
                  smime filter outgoing --sender alice@example.org --dry-run \\
                    -- bob@example.com < mail.eml
                """
        )

        @OptionGroup var options: FilterOptions
        @OptionGroup var levels: LevelOptions
        @Flag(
            name: .customLong("no-message-override"),
            help: "Ignore X-SMIME fields and subject tags in messages; only remove them."
        )
        var noMessageOverride = false

        func run() async throws {
            var engineOptions = options.engineOptions
            engineOptions.levels = levels.request
            engineOptions.honoursRequests = !noMessageOverride
            try await options.run(.outgoing, engineOptions, emptyName: "standard input") { engine, mail in
                await engine.decisions(on: mail)
            } show: { decisions in
                let report = PolicyReport(options.sender.address, decisions)
                try options.json ? Report.print(report) : Console.print(report.text)
            }
        }
    }
}
