import Foundation
import LibCrypto
import SMIMEAgent
import SMIMEGateway
import Synchronization

/// The passphrases in environment variables that the command line names.
///
/// They are removed from the environment first: any code that reads a variable copies the environment, child processes
/// inherit it, and those copies are never overwritten.
enum EnvironmentPassphrases {
    private final class Held: Sendable {
        let passphrase: Passphrase
        /// For a worker of the filter.
        let variable: SecretVariable

        init(_ passphrase: consuming Passphrase, _ variable: SecretVariable) {
            self.passphrase = passphrase
            self.variable = variable
        }
    }

    private static let held = Mutex<[String: Held]>([:])

    /// Takes the variables `names`, and overwrites them. Call while there is one thread.
    static func take(_ names: Set<String>) {
        for name in names {
            guard let variable = EnvironmentVariable(name) else { continue }
            let secret = variable.withEntry { SecretVariable(entry: $0) }
            let taken = Held(variable.withValue { Passphrase($0) }, secret)
            held.withLock { $0[name] = taken }
            variable.erase()
        }
    }

    /// The passphrase that was in the variable `name`; nil if there was no such variable.
    static func passphrase(_ name: String) -> Passphrase? {
        guard let found = held.withLock({ $0[name] }) else { return nil }
        return found.passphrase.copy()
    }

    /// All of them, for the environment of a process that gets the same command line.
    static var variables: [SecretVariable] { held.withLock { $0.values.map(\.variable) } }

    /// Overwrites them when they are no longer needed.
    static func forget() { held.withLock { $0 = [:] } }
}
