import Foundation

/// Detects that `smime sendmail` was started by the program that it calls.
enum SendmailLoop {
    /// The variable that a program called by `smime sendmail` has in its environment.
    private static let variable = "SMIME_SENDMAIL"
    private static nonisolated(unsafe) var found = false

    /// Whether this process was started by one of its kind.
    ///
    /// A program between the two may have cleared the environment, as many mail servers do for good reason. So one ancestor of
    /// our kind is allowed, as when a delivery forwards mail; more of them are a loop.
    static var isRunning: Bool { found || SendmailAncestors.count > 1 }

    /// Looks for the mark in the environment, and leaves it there for programs that this one calls. Call while there is one
    /// thread.
    static func mark() {
        found = getenv(variable) != nil
        setenv(variable, "1", 1)
    }
}
