import ArgumentParser
import SMIME
import SMIMEAgent
import SMIMEGateway

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
                unencrypted mail from an account of the store to a recipient for whom a rule requires encryption.

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
