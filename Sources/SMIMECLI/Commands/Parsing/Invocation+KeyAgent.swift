import Foundation

extension Invocation {
    /// The verbs that ask the agent of `smime unlock` for the store's key. Filters are not among them: mail that others send must not be
    /// signed or opened because the user is logged in.
    private static let verbsWithAgent = [
        "account", "decrypt", "encrypt", "export", "git", "import", "read", "sign", "verify",
    ]

    /// Whether the verb asks an agent.
    var asksKeyAgent: Bool {
        // A mail program in a terminal sends through it, and so does cron, which has none.
        calls("sendmail") ? Self.isInForeground : Self.verbsWithAgent.contains(where: calls)
    }

    /// Whether this program runs in the foreground of a terminal.
    private static var isInForeground: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        return tcgetpgrp(terminal) == getpgrp()
    }
}
