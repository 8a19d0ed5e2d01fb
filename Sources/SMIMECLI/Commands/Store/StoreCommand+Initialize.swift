import ArgumentParser
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct Initialize: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make an empty store, on a PostgreSQL server if --store names one.",
            discussion: """
                --store URL, or the variable SMIME_STORE, names a database that several hosts share; it works with every \
                verb. --home then has the key file and the locks of this host. A password belongs into a password file \
                (~/.pgpass), not into the URL. A server elsewhere needs a certificate for its name (sslmode=verify-full).

                The key that opens the private keys is not in the database: the same key file must be on each host. \
                --store-key-file FILE (or SMIME_STORE_KEY_FILE), the systemd credential smime-store-key, or \
                --store-key-command PROGRAM name another place for it. The program prints the key file, or its base64.

                  smime --home /var/lib/smime --store postgresql://smime@db.example.org/smime store init
                """
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let location = try global.location
            let isNew = try await Store.create(location)
            Console.note(
                isNew ? "made an empty store at \(location.path)" : "\(location.path): there is a store already"
            )
            guard isNew, location.server != nil, location.keySource.isOurs else { return }
            Console.hint("put the key file on every other host: \(location.keyFile)")
        }
    }
}
