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

                A file that is damaged, is not a store, or has tables or triggers that smime did not create is \
                rejected (status 65), and also a copy made by a newer smime (status 78). Private keys open with the \
                key file or passphrase that the store had when the copy was made. If the key file has changed since, \
                put back the old key file first.

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
            let store: Store
            let result: RestoredReport
            do {
                store = try await global.store(.readOnly)
                result = try await RestoredReport(store, kept: restored.kept)
            } catch {
                // The store has been replaced, so the name of the old one must be known whatever happens next.
                if let kept = restored.kept { Console.note("the old store is kept as \(kept)") }
                throw error
            }
            try report.print(result) { result.text }
            if restored.needsKeyFile {
                let place = "you put the copy's key file at \(location.keyFile)"
                let hasPassphrase = try await store.protection() == .both
                Console.hint(
                    hasPassphrase
                        ? "private keys open only with the passphrase until \(place)"
                        : "private keys open only after \(place)"
                )
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

extension SMIMECommand.StoreCommand {
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy",
            abstract: "Copy the store to a PostgreSQL server, or back.",
            discussion: """
                The target store must not exist yet. The copy is made in one transaction and verified; the same key \
                file opens both stores. A copy leaves out the settings that name programs, files, directories and \
                sockets of one host: filter.sendmail, lookup.command, lookup.directory, lookup.ldap.ca-file, \
                lookup.ldap.password-file, lookup.smimea.trust-anchor, revocation.directory, and lookup.ldap if its \
                URL begins with ldapi:. After a copy to a server put them into /etc/smime/host.conf on each host. \
                After a copy from a server set them again. First stop the programs that write to the old store: \
                later changes are not in the copy.

                  smime store copy --to postgresql://db.example.org/smime
                  smime store copy --from postgresql://db.example.org/smime
                """
        )

        @Option(help: ArgumentHelp("Copy the store in --home to this database.", valueName: "url"))
        var to: String?
        @Option(help: ArgumentHelp("Copy the store in this database to --home.", valueName: "url"))
        var from: String?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard (to == nil) != (from == nil) else { throw ValidationError("either --to or --from is needed") }
        }

        func run() async throws {
            let home = try global.location
            guard let url = to ?? from, home.server == nil else {
                throw Failure(.usage, "name the server with --to or --from alone, not with --store or SMIME_STORE")
            }
            let server = home.on(try GlobalOptions.address(url, isArgument: true))
            let (source, target) = to == nil ? (server, home) : (home, server)
            let store = try await Store.open(source, mode: .readOnly)
            guard store.exists else { throw try global.missingStore }
            let left = try await store.settings.all().filter { HostSettings.isHostSetting($0.key, value: $0.value) }
            let counts = try await store.copy(to: target)
            try await store.close()
            for (table, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
                try Console.print("\(table): \(count)\n")
            }
            Console.note("copied \(source.path) to \(target.path)")
            guard to != nil, !left.isEmpty else { return }
            Console.note("not copied, because they belong to this host: \(left.keys.sorted().joined(separator: ", "))")
            Console.hint("write them into \(HostSettings.systemFile) of each host that needs them, as lines KEY VALUE")
        }
    }
}
