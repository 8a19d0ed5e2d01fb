import ArgumentParser
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct Initialize: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Create an empty store, on a PostgreSQL server if --store names a database.",
            discussion: """
                --store URL, or the variable SMIME_STORE, names a database that several hosts share; --store works \
                with every command. The directory in --home then has the key file and the locks of this host. A \
                password belongs in a password file (~/.pgpass), not in the URL. A PostgreSQL server on another host \
                needs a TLS certificate for its host name (sslmode=verify-full).

                The key that opens the private keys is not in the database: the same key file must be on each host. \
                --store-key-file FILE (or SMIME_STORE_KEY_FILE), the systemd credential smime-store-key, or \
                --store-key-command PROGRAM (or SMIME_STORE_KEY_COMMAND) name another place for the key file. The \
                program prints the content of the key file, as it is or in base64.

                --gateway-role and --reader-role give roles of the database their rights, also in an existing store; \
                `smime store migrate` renews these rights. A gateway's role can read, store learned certificates, and \
                write the journal; only the owner can change accounts, keys, rules, settings and trust. --print-sql \
                prints the SQL statements instead.

                  smime store init
                  smime --store postgresql://db.example.org/smime store init
                  smime --store postgresql://db.example.org/smime store init --gateway-role gw
                """
        )

        @Option(help: ArgumentHelp("Let this role of the database run a gateway; may be repeated.", valueName: "role"))
        var gatewayRole: [String] = []
        @Option(help: ArgumentHelp("Let this role of the database read; may be repeated.", valueName: "role"))
        var readerRole: [String] = []
        @Flag(name: .customLong("print-sql"), help: "Print the SQL for the roles, and change nothing.")
        var printsSQL = false
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard !printsSQL || !gatewayRole.isEmpty || !readerRole.isEmpty else {
                throw ValidationError("--print-sql needs --gateway-role or --reader-role")
            }
        }

        func run() async throws {
            let roles =
                try gatewayRole.map { try StoreRole(.gateway, $0) } + readerRole.map { try StoreRole(.reader, $0) }
            if printsSQL {
                let statements =
                    ["BEGIN", "SET LOCAL search_path = smime, pg_temp"] + roles.flatMap(\.statements) + ["COMMIT"]
                return try Console.print(statements.map { $0 + ";\n" }.joined())
            }
            let location = try global.location
            try await Store.checkRoles(roles, in: location)
            let isNew = try await Store.create(location)
            Console.note(
                isNew ? "made an empty store at \(location.path)" : "\(location.path): there is a store already"
            )
            if !roles.isEmpty {
                try await Store.grant(roles, in: location)
                Console.note("rights granted to the roles: \(roles.map(\.name).joined(separator: ", "))")
            }
            guard isNew, location.server != nil, location.keySource.isOurs else { return }
            Console.hint("put the key file on every other host: \(location.keyFile)")
        }
    }
}
