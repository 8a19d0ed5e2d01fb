import ArgumentParser
import ByteStreams
import Foundation
import SMIMEStore

/// The options of every verb.
struct GlobalOptions: ParsableArguments {
    /// When messages are colored.
    enum ColorMode: String, Choice {
        case auto, always, never
    }

    @Option(
        name: .global(.home),
        help: ArgumentHelp("The store's directory. (default: $SMIME_HOME, else the XDG directories)", valueName: "dir")
    )
    var home: String?
    @Option(
        name: .global(.store),
        help: ArgumentHelp(
            "The store's database on a PostgreSQL server. (default: $SMIME_STORE)",
            valueName: "url",
            visibility: .hidden
        )
    )
    var storeURL: String?
    @Option(
        name: .global(.storeKeyFile),
        help: ArgumentHelp("The store's key file.", valueName: "file", visibility: .hidden)
    )
    var storeKeyFile: String?
    @Option(
        name: .global(.storeKeyCommand),
        help: ArgumentHelp("A program that prints the store's key.", valueName: "path", visibility: .hidden)
    )
    var storeKeyCommand: String?
    @Option(
        name: .global(.hostSettings),
        help: ArgumentHelp("The file with the settings of this host.", valueName: "file", visibility: .hidden)
    )
    var hostSettings: String?
    @Option(name: .global(.color), help: "Color messages: auto, always, or never. (default: auto)")
    var color: ColorMode?

    func validate() throws {
        if home?.isEmpty == true { throw ValidationError("--home needs a directory") }
        for (name, value) in [
            ("--store", storeURL), ("--store-key-file", storeKeyFile), ("--store-key-command", storeKeyCommand),
            ("--host-settings", hostSettings),
        ] where value?.isEmpty == true { throw ValidationError("\(name) needs a value") }
        if storeKeyFile != nil, storeKeyCommand != nil {
            throw ValidationError("--store-key-file and --store-key-command exclude each other")
        }
        try checkKeyVariables()
        if let program = storeKeyCommand, !program.hasPrefix("/") {
            throw ValidationError("--store-key-command needs the absolute path of a program")
        }
        if let given = ProcessEnvironment[ProcessEnvironment.storeTimeout], Self.seconds(given) == nil {
            throw ValidationError(
                "\(ProcessEnvironment.storeTimeout): '\(given)' is not a number of seconds up to 86400"
            )
        }
    }

    /// Rejects combinations of environment variables of which one would be ignored, and a program whose path is not absolute.
    private func checkKeyVariables() throws {
        guard storeKeyFile == nil, storeKeyCommand == nil else { return }
        let (file, program) = (StoreKeySource.fileVariable, StoreKeySource.programVariable)
        guard let path = ProcessEnvironment[program], !path.isEmpty else { return }
        guard (ProcessEnvironment[file] ?? "").isEmpty else {
            throw ValidationError("\(file) and \(program) exclude each other")
        }
        guard path.hasPrefix("/") else { throw ValidationError("\(program) needs the absolute path of a program") }
    }

    /// The location of the store that the command line or the environment names, or else of the default store.
    ///
    /// - Throws: `KeystoreError.unusableAddress` if a server's address cannot be used, or if the address is on the command
    ///   line and contains a password; `Failure` with status 64 for `--host-settings` with a store in a file.
    var location: StoreLocation {
        get throws {
            let source = StoreKeySource(
                file: storeKeyFile,
                program: storeKeyCommand,
                environment: ProcessEnvironment[StoreKeySource.variables],
                exists: FileSource.mayExist
            )
            let home = StoreLocation(home: home, environment: ProcessEnvironment[StoreLocation.variables])
            let settings = HostSettings(
                file: hostSettings,
                environment: ProcessEnvironment[HostSettings.variables],
                keyFolder: home.keyFolder
            )
            let place = home.opened(by: source).with(settings)
            guard let url = storeURL ?? ProcessEnvironment[ProcessEnvironment.store], !url.isEmpty else {
                guard hostSettings == nil else {
                    let step = "the settings of a store in a file are in the store: smime config set KEY VALUE"
                    throw Failure(.usage, "--host-settings is only for a store on a server", hints: [step])
                }
                return place
            }
            return place.on(try Self.address(url, isArgument: storeURL != nil))
        }
    }

    /// The database on a server that `url` names.
    ///
    /// - Parameter isArgument: whether `url` is on the command line, where a password is rejected.
    static func address(_ url: String, isArgument: Bool) throws -> PostgreSQLAddress {
        let address = try PostgreSQLAddress(url)
        guard isArgument, address.hasPassword else { return address }
        let why = "other users of this host can read a password in arguments; use a password file (~/.pgpass)"
        throw KeystoreError.unusableAddress(name: address.name, why: why)
    }

    /// The store, which is opened in the background for reading or writing.
    ///
    /// - Parameters:
    ///   - password: the source of the store's passphrase according to the options.
    ///   - asks: whether the person at the terminal may be asked for the passphrase.
    func opening(_ mode: Store.Mode, password: PassphraseOrigin? = nil, asks: Bool = true) throws -> StoreOpening {
        let source = StorePassphrase(origin: password, asks: asks)
        let asksAgent = Invocation.current.asksKeyAgent && source.asksPerson
        return StoreOpening(
            asksAgent ? try location.opened(by: KeyAgentUse.client) : try location,
            mode: mode,
            timeout: timeout(mode),
            passphrase: try source.source()
        )
    }

    /// The store, opened for reading or for changes.
    func store(_ mode: Store.Mode, password: PassphraseOrigin? = nil, asks: Bool = true) async throws -> Store {
        try await opening(mode, password: password, asks: asks).store()
    }

    /// The number of seconds that `text` gives; nil if `text` is not a number above 0 and up to 86,400.
    private static func seconds(_ text: String) -> Double? {
        Double(text).flatMap { $0 > 0 && $0 <= 86_400 ? $0 : nil }
    }

    /// How long to wait for the store. Mail must not wait long. A command that changes the store may have to wait for others
    /// that create or migrate the store.
    private func timeout(_ mode: Store.Mode) -> Duration {
        let given = ProcessEnvironment[ProcessEnvironment.storeTimeout].flatMap(Self.seconds)
        if let given { return .seconds(given) }
        return mode == .readOnly ? StoreOpening.timeout : .seconds(60)
    }
}

extension Store {
    /// Prints a note if there is no store to read, because a store that was never created is treated as empty. Prints a
    /// warning if the user named the store, because it may be missing by mistake.
    func noteIfMissing() {
        guard !exists else { return }
        let text = "no store at \(location.path): nothing is known yet"
        if location.home == nil { Console.note(text) } else { Console.warning(text) }
    }
}

/// Help texts of options that several groups declare separately: the parser needs more time for a group than for an option.
extension ArgumentHelp {
    static let json: ArgumentHelp = "Report as one JSON object on standard output."
    static let noSystemAnchors: ArgumentHelp = "Trust only the anchors of this store, not the system's anchors."
    static let time = ArgumentHelp(
        "Judge validity at this time, such as 2026-01-31 or 2026-01-31T12:00:00Z.",
        valueName: "time"
    )
}

extension Invocation {
    /// The global options on the command line, without the rest of the command; nil if they are wrong.
    var globalOptions: GlobalOptions? {
        try? GlobalOptions.parse(Self.globalNames.compactMap { name in value(of: name).map { "\(name)=\($0)" } })
    }
}
