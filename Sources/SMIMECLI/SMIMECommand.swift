import ArgumentParser

@main
struct SMIMECommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "smime",
        abstract: "Sign, encrypt, decrypt, and verify S/MIME mail.",
        version: "0.1.0"
    )
}
