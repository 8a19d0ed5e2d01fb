import ArgumentParser

extension SMIMECommand {
    struct FilterCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Apply the policy to mail in a mail server.",
            discussion: """
                Status 65 or 67 means that the message must not be sent. The status of every other failure is 75, so \
                that the mail server tries again. docs/filter.md describes how to set up a mail server.

                  smime filter outgoing --sender alice@example.org --queue-id 4XyZ \\
                    -- bob@example.com < mail.eml
                  smime filter outgoing --sender alice@example.org --stdout \\
                    -- bob@example.com < mail.eml
                """,
            subcommands: [Outgoing.self, Incoming.self]
        )
    }
}
