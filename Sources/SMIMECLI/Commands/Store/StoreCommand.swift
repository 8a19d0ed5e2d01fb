import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct StoreCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "store",
            abstract: "Create, protect, check, copy, and migrate the store.",
            discussion: """
                  smime store check
                  smime store backup -o smime.sqlite
                  smime store protect passphrase
                """,
            subcommands: [
                Initialize.self, Copy.self, Protect.self, Rekey.self, Check.self, Backup.self, Restore.self,
                Migrate.self, StartOver.self,
            ]
        )
    }
}

extension GlobalOptions {
    /// The existing store, opened in `mode`.
    ///
    /// - Throws: `Failure` with status 66 if there is no store.
    func existingStore(_ mode: Store.Mode, password: PassphraseOrigin? = nil) async throws -> Store {
        guard try await store(.readOnly).exists else { throw try missingStore }
        return try await store(mode, password: password)
    }

    /// The failure for a store that does not exist.
    var missingStore: Failure {
        get throws { Self.missingStore(at: try location) }
    }

    private static func missingStore(at location: StoreLocation) -> Failure {
        guard location.home == nil else {
            return Failure(.noInput, "\(location.path): there is no store", hints: [Failure.bringBack])
        }
        return Failure(
            .noInput,
            "\(location.path): there is no store yet",
            hints: ["import your key: smime import FILE"]
        )
    }
}

extension SMIMECommand.StoreCommand {
    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: "Copy the whole store to one file.",
            discussion: """
                The copy contains everything except the key file. The private keys in the copy open only with the key \
                file or the passphrase. `smime store restore` makes the copy the store again. A store on a server is copied with pg_dump. Other programs may use the store \
                meanwhile. To move accounts to a new computer, use `smime account backup`.

                  smime store backup -o smime-$(date +%F).sqlite
                  smime --home /var/lib/smime store backup -o /mnt/backup/smime.sqlite
                """
        )

        @Option(
            name: .letter(.output),
            help: ArgumentHelp("Write to this file, which appears only when complete.", valueName: "file"),
            completion: .file()
        )
        var output: String
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if output.isEmpty || output == "-" { throw ValidationError("the copy needs a file: --output") }
        }

        func run() async throws {
            let store = try await global.existingStore(.readOnly)
            for path in store.location.files where FileIdentity.isSame(output, as: path) {
                throw Failure(.usage, "\(output): the copy would replace the store")
            }
            try PrivateKeyFile.check(output, replacing: [.storeCopy])
            try Self.write(try await Self.copy(of: store, for: output), to: output)
            if report.json { try Report.print(["database": store.location.database, "file": output]) }
            Console.note("copied \(store.location.database) to \(output)")
            let protection = try await store.protection()
            if protection != .passphrase {
                Console.hint("also keep a copy of the key file elsewhere: \(store.location.keyFile)")
            }
        }

        /// A copy of the store in the spool folder: SQLite writes only to a file with a name.
        private static func copy(of store: Store, for output: String) async throws -> SpooledFile {
            var damage: String?
            do {
                let copy = try await SpooledFile {
                    try await store.backup(to: $0)
                    damage = try await Store.damage(ofCopy: $0)
                }
                if let damage {
                    Console.warning(
                        "\(output): store restore rejects this copy, because the store is damaged: \(damage)"
                    )
                    Console.hint("to see all damage: smime store check")
                }
                return copy
            } catch {
                guard case KeystoreError.writeFailed(_, let reason) = error else { throw error }
                throw Failure(
                    .inputOutput,
                    "\(output): cannot write: \(reason)",
                    hints: ["the copy is first made in the folder that TMPDIR names, else in /var/tmp"]
                )
            }
        }

        private static func write(_ copy: SpooledFile, to output: String) throws {
            let source = try copy.rewound()
            try Output.write(to: output, isPrivate: true) { try source.reader().copy(to: $0) }
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Convert an older store to the newest schema.",
            discussion: """
                A store is also converted when it is opened. An interrupted conversion continues where it stopped. If \
                the store is on a PostgreSQL server, this command also renews the rights that `smime store init` gave to \
                roles of the database.

                  smime store migrate
                  smime store migrate --dry-run
                  smime store migrate --json
                """
        )

        @Flag(help: "Print what would be done, and change nothing.")
        var dryRun = false
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            guard let pending = try await StoreMigration.pending(for: global.location) else {
                throw try global.missingStore
            }
            if !dryRun, !pending.isEmpty {
                try await global.store(.readWrite).close()
            } else if !dryRun {
                try await Store.renewRights(in: global.location)
            }
            try report.print(MigrationReport(pending, isDone: !dryRun)) { text(pending) }
        }

        private func text(_ pending: StoreMigration) -> String {
            guard !pending.isEmpty else { return "schema \(pending.found): nothing to migrate\n" }
            let verb = dryRun ? "would be migrated" : "migrated"
            return "schema \(pending.found): \(verb) to schema \(pending.known)\n"
        }
    }
}

/// The report on a migration or a dry run.
private struct MigrationReport: Encodable {
    let found: Int
    let known: Int
    let migrations: [Int]
    let done: Bool

    init(_ pending: StoreMigration, isDone: Bool) {
        found = pending.found
        known = pending.known
        migrations = pending.steps
        done = isDone
    }
}

extension SMIMECommand.StoreCommand {
    struct StartOver: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start-over",
            abstract: "Put the store aside, so that the next import makes a new one.",
            discussion: """
                Use this if the key file or the passphrase of the store is lost. Without it the private keys in the \
                store cannot be opened. Look for a copy first: a backup of the key file, an account backup, or the \
                .p12 files that you imported.

                First stop other programs that use the store, such as a mail filter. Nothing is destroyed: the files \
                of the old store are renamed, and the new names are printed. To go back to the old store, rename its \
                files again. To continue with a new store, import your .p12 files again. Asks first, unless --yes \
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
            try Store.checkStartOver(location)
            try confirmation.confirm(
                "\(location.path): the store would be put aside, and the next import makes a new one"
            )
            let kept = try await KeyAgentUse.forgetting(location) { try await Store.startOver(location, at: .now) }
            guard !kept.isEmpty else { throw try global.missingStore }
            try report.print(["kept": kept]) { kept.map { "kept \($0.escapedForDisplay)\n" }.joined() }
            Console.hint("import your keys again: smime import FILE.p12")
        }
    }
}
