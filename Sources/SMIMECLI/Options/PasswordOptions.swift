import ArgumentParser
import LibCrypto

/// Options that say where a passphrase comes from.
protocol PassphraseOptions {
    var passwordFile: String? { get }
    var passwordFd: Int32? { get }
    var passwordEnv: String? { get }
}

extension PassphraseOptions {
    var origin: PassphraseOrigin {
        PassphraseOrigin("password", file: passwordFile, descriptor: passwordFd, variable: passwordEnv)
    }

    /// Whether the options name a source for the passphrase, so that the user is not asked.
    var isGiven: Bool { origin.isGiven }

    /// The given passphrase, or the one that the user types at the terminal.
    ///
    /// - Parameters:
    ///   - purpose: completes "passphrase …", such as "for alice.p12".
    ///   - isNew: whether the passphrase will protect a new file; the user then types it twice.
    /// - Throws: the errors of `PassphraseOrigin.given` and, if no passphrase is given, of `Terminal.passphrase`
    func passphrase(_ purpose: String, isNew: Bool = false) throws -> Passphrase {
        try origin.given() ?? Terminal.passphrase(purpose, isNew: isNew, otherwise: origin.optionNames)
    }
}

extension ArgumentHelp {
    static let passwordFile = ArgumentHelp("Read the passphrase from this file.", valueName: "path")
    static let passwordFd = ArgumentHelp("Read the passphrase from this file descriptor.", valueName: "n")
    static let passwordEnv = ArgumentHelp("Take the passphrase from this environment variable.", valueName: "name")
}

/// Options for the source of a passphrase. The passphrase itself is never an argument, because every process can see
/// arguments.
struct PasswordOptions: ParsableArguments, PassphraseOptions {
    @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
    @Option(help: .passwordFd) var passwordFd: Int32?
    @Option(help: .passwordEnv) var passwordEnv: String?

    func validate() throws { try origin.validate() }
}

/// Options for the passphrase of the store, for verbs whose `--password-…` options are for another file.
struct StorePasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the passphrase of the store from this file.", valueName: "path"),
        completion: .file()
    )
    var storePasswordFile: String?
    @Option(help: ArgumentHelp("Read the passphrase of the store from this file descriptor.", valueName: "n"))
    var storePasswordFd: Int32?
    @Option(help: ArgumentHelp("Take the passphrase of the store from this environment variable.", valueName: "name"))
    var storePasswordEnv: String?

    var origin: PassphraseOrigin {
        PassphraseOrigin(
            "store-password",
            file: storePasswordFile,
            descriptor: storePasswordFd,
            variable: storePasswordEnv
        )
    }

    func validate() throws { try origin.validate() }
}

/// Options for a passphrase that replaces another passphrase.
struct NewPasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passphrase from this file.", valueName: "path"), completion: .file())
    var newPasswordFile: String?
    @Option(help: ArgumentHelp("Read the new passphrase from this file descriptor.", valueName: "n"))
    var newPasswordFd: Int32?
    @Option(help: ArgumentHelp("Take the new passphrase from this environment variable.", valueName: "name"))
    var newPasswordEnv: String?

    var origin: PassphraseOrigin {
        PassphraseOrigin("new-password", file: newPasswordFile, descriptor: newPasswordFd, variable: newPasswordEnv)
    }

    func validate() throws { try origin.validate() }
}
