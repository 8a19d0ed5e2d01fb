extension Invocation {
    /// The verbs that ask the agent of `smime unlock` for the store's key. The user who unlocked the store starts them, and so do
    /// the mail programs of that user, most of which give sendmail no terminal. Filters are not among them: mail that others send
    /// must not be signed or opened because a user is logged in.
    private static let verbsWithAgent = [
        "account", "decrypt", "encrypt", "export", "git", "import", "read", "sendmail", "sign", "verify",
    ]

    /// Whether the verb asks an agent.
    var asksKeyAgent: Bool { Self.verbsWithAgent.contains(where: calls) }
}
