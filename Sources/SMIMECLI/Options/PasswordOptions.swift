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
        PassphraseOrigin("password", passwordFile, descriptor: passwordFd, variable: passwordEnv)
    }

    /// Whether the passphrase was given and need not be asked for.
    var isGiven: Bool { origin.isGiven }

    /// The passphrase given, or typed at the terminal.
    ///
    /// - Parameter purpose: completes "passphrase …", as in "for alice.p12".
    /// - Parameter isNew: whether it will protect a new file, so that it is typed twice.
    /// - Throws: `Failure` with status 77 if it is not given and there is no terminal.
    func passphrase(_ purpose: String, isNew: Bool = false) throws -> Passphrase {
        try origin.given() ?? Terminal.passphrase(purpose, isNew: isNew)
    }
}

extension ArgumentHelp {
    static let passwordFile = ArgumentHelp("Read the passphrase from this file.", valueName: "path")
    static let passwordFd = ArgumentHelp("Read the passphrase from this file descriptor.", valueName: "n")
    static let passwordEnv = ArgumentHelp("Take the passphrase from this environment variable.", valueName: "name")
}

/// The source of a passphrase. Never the value of an argument, which every process can see.
struct PasswordOptions: ParsableArguments, PassphraseOptions {
    @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
    @Option(help: .passwordFd) var passwordFd: Int32?
    @Option(help: .passwordEnv) var passwordEnv: String?

    func validate() throws { try origin.validate() }
}

/// The passphrase of the store, for verbs whose `--password-…` is that of another file.
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
        PassphraseOrigin("store-password", storePasswordFile, descriptor: storePasswordFd, variable: storePasswordEnv)
    }

    func validate() throws { try origin.validate() }
}

/// A passphrase that takes the place of another one.
struct NewPasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passphrase from this file.", valueName: "path"), completion: .file())
    var newPasswordFile: String?
    @Option(help: ArgumentHelp("Read the new passphrase from this file descriptor.", valueName: "n"))
    var newPasswordFd: Int32?
    @Option(help: ArgumentHelp("Take the new passphrase from this environment variable.", valueName: "name"))
    var newPasswordEnv: String?

    var origin: PassphraseOrigin {
        PassphraseOrigin("new-password", newPasswordFile, descriptor: newPasswordFd, variable: newPasswordEnv)
    }

    func validate() throws { try origin.validate() }
}
