import CMS
import Foundation
import Synchronization

/// The passphrases that the command line says are in variables of the environment.
///
/// They are taken from there before anything else is done: the environment is copied by whoever looks for a variable in
/// it, and inherited by programs that we start, and nobody overwrites those copies.
enum EnvironmentPassphrases {
    private final class Held: Sendable {
        let passphrase: Passphrase

        init(_ passphrase: consuming Passphrase) { self.passphrase = passphrase }
    }

    private static let held = Mutex<[String: Held]>([:])

    /// Takes the variables `names`, and overwrites them. Call while there is one thread.
    static func take(_ names: Set<String>) {
        for name in names {
            guard let value = getenv(name) else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
            let taken = Held(Passphrase(bytes))
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

    /// Overwrites them, when nobody asks any more.
    static func forget() { held.withLock { $0 = [:] } }
}
