import Foundation

/// Detects that `smime sendmail` was started by the program that it calls.
enum SendmailLoop {
    /// The environment variable that marks programs called by `smime sendmail`.
    private static let variable = "SMIME_SENDMAIL"
    private static nonisolated(unsafe) var found = false

    /// Whether this process was started by another `smime sendmail`.
    ///
    /// A program between the two processes may have cleared the environment, as many mail servers do for good reason.
    /// Therefore the ancestors are counted as well. One ancestor that is `smime sendmail` is allowed, as when a delivery
    /// forwards mail; two or more are a loop.
    static var isRunning: Bool { found || SendmailAncestors.count > 1 }

    /// Reads the mark in the environment, and sets it for programs that this process calls. Call this while the process has
    /// one thread.
    static func mark() {
        found = getenv(variable) != nil
        setenv(variable, "1", 1)
    }
}
