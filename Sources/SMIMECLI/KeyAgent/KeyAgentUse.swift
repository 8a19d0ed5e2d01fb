import Foundation
import SMIMEStore

/// Which commands ask the agent of `smime unlock` in place of the person at the terminal.
enum KeyAgentUse {
    /// The verbs that do. Filters are not among them: mail that others send must not be signed or opened because somebody is logged in.
    private static let verbs = [
        "account", "decrypt", "encrypt", "export", "git", "import", "read", "sign", "verify",
    ]

    /// The agents of this user.
    static var client: KeyAgentClient {
        KeyAgentClient(RuntimeFolder(environment: ProcessEnvironment[["XDG_RUNTIME_DIR"]]))
    }

    /// Whether the verb on the command line asks an agent.
    static var isAllowed: Bool {
        // A mail program in a terminal sends through it, and so does cron, which has none.
        if Invocation.current.calls("sendmail") { return hasTerminal }
        return verbs.contains(where: Invocation.current.calls)
    }

    /// Makes the agent `name` forget its key, because that key or its passphrase has changed.
    static func forget(_ name: String?) {
        guard let name, client.forget(name) == false else { return }
        Console.warning("\(client.folder.path)/\(name): an agent may still keep the former key; end it: smime lock")
    }

    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
