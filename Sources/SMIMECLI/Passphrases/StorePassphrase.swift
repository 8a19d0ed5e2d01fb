import ArgumentParser
import Foundation
import LibCrypto
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Synchronization

/// The source of a locked store's passphrase: the options, or else a systemd credential, or else the person at the terminal.
struct StorePassphrase {
    /// How many times the passphrase may be typed.
    private static let tries = 2

    let origin: PassphraseOrigin?
    /// Whether the person at the terminal may be asked.
    var asks = true

    /// Whether the person at the terminal is the only possible source.
    var asksPerson: Bool { asks && origin?.isGiven != true && Self.credentialPath == nil }

    /// A source that is asked when the store needs a private key.
    ///
    /// - Throws: the errors of `PassphraseOrigin.given`
    func source() throws -> PassphraseSource {
        if let given = try origin?.given() { return LastingRefusal(of: Self.only(given)).source }
        let (asks, origin) = (asks, origin)
        let source: PassphraseSource = { attempt in
            if let path = Self.credentialPath {
                return attempt == 0 ? try Self.credential(at: path) : nil
            }
            guard asks, attempt < Self.tries else { return nil }
            if attempt > 0 { Console.warning("wrong passphrase, try again") }
            return try Terminal.passphrase("of the store", otherwise: origin?.optionNames)
        }
        return LastingRefusal(of: source).source
    }

    /// The passphrase itself, for uses other than opening the store.
    func passphrase() throws -> Passphrase {
        if let given = try origin?.given() { return given }
        if let path = Self.credentialPath { return try Self.credential(at: path) }
        return try Terminal.passphrase("of the store", otherwise: origin?.optionNames)
    }

    private static func only(_ passphrase: consuming Passphrase) -> PassphraseSource {
        let held = HeldPassphrase(passphrase)
        return { attempt in attempt == 0 ? held.copy() : nil }
    }

    /// The path of the systemd credential; nil if there is none.
    private static var credentialPath: String? {
        guard let folder = ProcessEnvironment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            return nil
        }
        let path = "\(folder)/\(ProcessEnvironment.passphraseCredential)"
        var status = stat()
        return lstat(path, &status) == 0 || errno != ENOENT ? path : nil
    }

    /// Reads the credential; throws if other users could read or change it.
    ///
    /// Read permission for the group is allowed: systemd gives the service access by an ACL, whose mask appears as the group
    /// permission.
    private static func credential(at path: String) throws -> Passphrase {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw Failure(.noPermission, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(.noPermission, "\(path): is not a regular file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Failure(.noPermission, "\(path): belongs to another user")
        }
        guard status.st_mode & 0o027 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw Failure(.noPermission, "\(path): is open to others (mode \(mode), wanted 400)")
        }
        return try PassphraseOrigin.read("/dev/fd/\(descriptor)", called: path)
    }
}

/// A passphrase that is used several times, and wiped after its last use.
private final class HeldPassphrase: Sendable {
    private let passphrase: Passphrase

    init(_ passphrase: consuming Passphrase) { self.passphrase = passphrase }

    func copy() -> Passphrase { passphrase.copy() }
}

/// Asks a source for passphrases until it returns nil or throws. Later requests get the same answer, so that the user is not
/// asked again for each of many files.
private final class LastingRefusal: Sendable {
    private enum State {
        case asking
        case refused((any Error)?)
    }

    private let inner: PassphraseSource
    private let state = Mutex(State.asking)

    init(of source: @escaping PassphraseSource) { inner = source }

    var source: PassphraseSource { { [self] attempt in try answer(attempt) } }

    private func answer(_ attempt: Int) throws -> Passphrase? {
        if case .refused(let error) = state.withLock({ $0 }) {
            if let error { throw error }
            return nil
        }
        do {
            if let passphrase = try inner(attempt) { return passphrase }
            state.withLock { $0 = .refused(nil) }
            return nil
        } catch {
            state.withLock { $0 = .refused(error) }
            throw error
        }
    }
}

/// The passphrases in environment variables that the command line names.
///
/// The passphrases are removed from the environment first. Code that reads any variable copies the environment, and child
/// processes inherit it; those copies would never be overwritten.
enum EnvironmentPassphrases {
    private final class Held: Sendable {
        let passphrase: Passphrase
        /// The variable in the form in which a worker of the filter receives it.
        let variable: SecretVariable

        init(_ passphrase: consuming Passphrase, _ variable: SecretVariable) {
            self.passphrase = passphrase
            self.variable = variable
        }
    }

    private static let held = Mutex<[String: Held]>([:])

    /// Reads the variables `names`, and overwrites them in the environment. Call this while the process has one thread.
    static func moveFromEnvironment(_ names: Set<String>) {
        for name in names {
            guard let variable = EnvironmentVariable(name) else { continue }
            let secret = variable.withEntry { SecretVariable(entry: $0) }
            let taken = Held(variable.withValue { Passphrase($0) }, secret)
            held.withLock { $0[name] = taken }
            variable.erase()
        }
    }

    /// The passphrase of the variable `name`; nil if there was no such variable.
    static func passphrase(_ name: String) -> Passphrase? {
        guard let found = held.withLock({ $0[name] }) else { return nil }
        return found.passphrase.copy()
    }

    /// All variables, for the environment of a process with the same command line.
    static var variables: [SecretVariable] { held.withLock { $0.values.map(\.variable) } }

    /// Overwrites the passphrases when they are no longer needed.
    static func forget() { held.withLock { $0 = [:] } }
}
