import ArgumentParser

extension SMIMECommand {
    struct RecipientCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recipient",
            abstract: "Show and change other people's certificates.",
            discussion: """
                  smime recipient list
                  smime recipient add bob@example.org bob.pem
                  smime recipient show bob@example.org
                """,
            subcommands: [
                List.self, Show.self, Add.self, Import.self, Remove.self, Trust.self, Distrust.self, Export.self,
            ]
        )
    }
}
