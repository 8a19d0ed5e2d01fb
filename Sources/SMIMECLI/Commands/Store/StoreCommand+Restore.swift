import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Replace the store by a copy that `store backup` made.",
            discussion: """
                The whole store is as it was when the copy was made; later changes are lost. (`smime account restore` \
                adds to the store instead.) Other processes may use the store meanwhile: they see either the old store \
                or the new store. The old store is kept under a new name, which is printed. `smime store restore` with \
                that name restores the old store.

                A file that is damaged or is not a store is rejected (status 65), and also a copy made by a newer \
                smime (status 78). Private keys open with the key file or passphrase that the store had when the copy \
                was made. If the key file has changed since, put back the old key file first.

                  smime store restore smime-2026-11-22.sqlite
                  smime --home /var/lib/smime store restore smime-2026-11-22.sqlite
                """
        )

        @Argument(help: ArgumentHelp("The copy of the store.", valueName: "file"), completion: .file())
        var file: String
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if file.isEmpty || file == "-" { throw ValidationError("the copy must be a file") }
        }

        func run() async throws {
            let location = try global.location
            let restored = try await KeyAgentUse.forgetting(location) { try await Store.restore(location, copy: file) }
            let store = try await global.store(.readOnly)
            let result = try await RestoredReport(store, kept: restored.kept)
            try report.print(result) { result.text }
            if restored.needsKeyFile {
                Console.hint("private keys open only after you put the copy's key file at \(location.keyFile)")
            }
        }
    }
}

/// The report on the contents of the restored store, with the path of the replaced store.
private struct RestoredReport: Encodable {
    let accounts: Int
    let database: String
    let kept: String?
    let recipients: Int

    init(_ store: Store, kept: String?) async throws {
        database = store.location.database
        self.kept = kept
        accounts = try await store.accounts.all().count
        recipients = try await store.recipients.addresses().count
    }

    var text: String {
        let content = "\(counted(accounts, "account")), \(counted(recipients, "recipient"))"
        return "\(database): restored, with \(content)\n"
            + (kept.map { "the old store is kept as \($0)\n" } ?? "")
    }
}
