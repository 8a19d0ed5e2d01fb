import ArgumentParser

extension SMIMECommand {
    struct FilterCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Apply the policy to mail in a mail server's pipe.",
            discussion: """
                Every failure but a message that cannot be sent as it is (status 65 or 67) ends with status 75, so that the \
                server tries again. docs/postfix.md says how to set up a mail server.

                  smime filter outgoing --sender alice@example.org --queue-id 4XyZ \\
                    -- bob@example.com < mail.eml
                  smime filter outgoing --sender alice@example.org --stdout \\
                    -- bob@example.com < mail.eml
                """,
            subcommands: [Outgoing.self, Incoming.self]
        )
    }
}
