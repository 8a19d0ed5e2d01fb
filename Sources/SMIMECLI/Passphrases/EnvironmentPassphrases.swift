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
            guard let value = getenv(name) else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
            // The value is between `NAME=` and a zero byte. environ(7)
            let entry = UnsafeRawBufferPointer(
                start: value - name.utf8.count - 1,
                count: name.utf8.count + 1 + bytes.count + 1
            )
            let taken = Held(Passphrase(bytes), SecretVariable(entry: entry))
            held.withLock { $0[name] = taken }
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            unsetenv(name)
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
