import ArgumentParser
import SMIMEAgent
import SMIMEGateway

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
