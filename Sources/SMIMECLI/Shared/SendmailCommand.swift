import ArgumentParser
import MailFilter

/// What a host calls itself in Authentication-Results: a name like a domain.
///
/// RFC 8601 §2.5
struct AuthservID: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        let isName = argument.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "-._".utf8.contains(byte)
        }
        guard isName, !argument.isEmpty, argument.utf8.count <= 255 else { return nil }
        name = argument
    }
}

/// A program and its arguments, parted by blanks; no shell reads them.
struct SendmailCommand: ExpressibleByArgument, CustomStringConvertible {
    static let standard = SendmailCommand(SendmailTransport.standardProgram, SendmailTransport.standardArguments)

    let program: String
    let arguments: [String]

    private init(_ program: String, _ arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    init?(argument: String) {
        let words = argument.split(separator: " ").map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.init(program, words.count == 1 ? SendmailTransport.standardArguments : Array(words.dropFirst()))
    }

    var description: String { ([program] + arguments).joined(separator: " ") }

    var transport: SendmailTransport { SendmailTransport(program: program, arguments: arguments) }
}
