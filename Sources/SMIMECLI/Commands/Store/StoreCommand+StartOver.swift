import ArgumentParser
import Foundation
import InternetMessage
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct StartOver: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start-over",
            abstract: "Put a store aside that can no longer be opened, and begin with an empty store.",
            discussion: """
                Use this if the key file or the passphrase of the store is lost. Without it the private keys in the \
                store cannot be opened. Look for a copy first: a backup of the key file, an account backup, or the \
                .p12 files that you imported.

                First stop other programs that use the store, such as a mail filter. Nothing is destroyed: the files \
                of the old store are renamed, and the new names are printed. To go back to the old store, rename its \
                files again. To continue with the empty store, import your .p12 files again. Asks first, unless --yes \
                is given.

                  smime store start-over
                  smime store start-over --yes
                """
        )

        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let location = try global.location
            try confirmation.confirm("\(location.path): the store would be put aside, and an empty one take its place")
            let kept = try await KeyAgentUse.forgetting(location) { try await Store.startOver(location, at: .now) }
            guard !kept.isEmpty else { throw try global.missingStore }
            try report.print(["kept": kept]) { kept.map { "kept \($0.escapedForDisplay)\n" }.joined() }
            Console.hint("import your keys again: smime import FILE.p12")
        }
    }
}
