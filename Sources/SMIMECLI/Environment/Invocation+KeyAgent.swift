extension Invocation {
    /// The verbs that ask the agent of `smime unlock` for the store's key. They are started by the user who unlocked the
    /// store, or by that user's mail programs, most of which start sendmail without a terminal. Filters do not ask the agent:
    /// mail of others must not be signed or opened because a user is logged in.
    private static let verbsWithAgent = [
        "account", "decrypt", "encrypt", "export", "git", "import", "read", "sendmail", "sign", "verify",
    ]

    /// Whether the verb asks an agent.
    var asksKeyAgent: Bool { Self.verb(in: words[...]).map(Self.verbsWithAgent.contains) == true }
}
