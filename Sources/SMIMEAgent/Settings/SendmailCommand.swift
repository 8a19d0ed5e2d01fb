/// A sendmail program with its arguments before sender and recipients.
package struct SendmailCommand: Hashable, Sendable {
    /// The path in Postfix, Exim and OpenSMTPD.
    package static let standardProgram = "/usr/sbin/sendmail"
    /// The mail comes from a gateway (Postfix), and a lone dot does not end it.
    package static let standardArguments = ["-G", "-i"]

    /// The absolute path.
    package let program: String
    package let arguments: [String]

    package init(program: String = Self.standardProgram, arguments: [String] = Self.standardArguments) {
        self.program = program
        self.arguments = arguments
    }

    /// Parses an absolute path and its arguments, separated by blanks; no shell is involved. A program alone gets the
    /// standard arguments.
    ///
    /// - Returns: nil if there is no path in front.
    package init?(parsing text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.init(program: program, arguments: words.count == 1 ? Self.standardArguments : Array(words.dropFirst()))
    }

    /// Whether `-i` or `-oi` is given, so that a line with a single dot does not end the message.
    package var passesLoneDots: Bool { arguments.contains("-i") || arguments.contains("-oi") }
}

extension SendmailCommand: CustomStringConvertible {
    /// The command as `init(parsing:)` reads it.
    package var description: String { ([program] + arguments).joined(separator: " ") }
}
