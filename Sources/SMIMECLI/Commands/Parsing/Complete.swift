import ArgumentParser
import InternetMessage
import PKIX
import SMIMEStore

extension SMIMECommand {
    /// Prints words for a shell's completion script, one on each line. If the store cannot be read, only an error is printed,
    /// which the scripts discard.
    struct Complete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "complete",
            abstract: "List words for a shell's completion: accounts, codes, or recipients.",
            shouldDisplay: false
        )

        @Argument(help: ArgumentHelp("What to list: accounts, codes, or recipients.", valueName: "kind"))
        var kind: CompletedWords
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let words: [String]
            switch kind {
            case .codes: words = ProblemCode.allCases.map(\.rawValue)
            case .accounts: words = try await global.store(.readOnly).accounts.all().map(\.address.text)
            case .recipients: words = try await global.store(.readOnly).recipients.addresses().map(\.text)
            }
            // A word that needs escaping would be completed wrongly.
            try Console.print(words.filter { $0.escapedForDisplay == $0 }.map { "\($0)\n" }.joined())
        }
    }
}
