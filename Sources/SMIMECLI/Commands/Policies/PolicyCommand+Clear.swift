import ArgumentParser
import SMIMEStore

extension SMIMECommand.PolicyCommand {
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove all rules.",
            discussion: """
                Also removes rules that are damaged. Without rules, mail is sent in clear if it cannot be encrypted. Asks \
                first, unless --yes is given.

                  smime policy clear
                  smime policy clear --yes
                """
        )

        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.existingStore(.readWrite)
            try confirmation.confirm("all rules would be removed, and mail could be sent in clear")
            try await store.policy.removeAll()
            try await store.close()
            try RuleReport.print([], report)
            Console.note("all rules are removed")
        }
    }
}
