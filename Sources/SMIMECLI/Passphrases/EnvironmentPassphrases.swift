import Foundation
import LibCrypto
import SMIMEAgent
import SMIMEGateway
import Synchronization

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
    static func take(_ names: Set<String>) {
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
