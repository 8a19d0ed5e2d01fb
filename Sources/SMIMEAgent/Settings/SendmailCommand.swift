/// A sendmail program, with the arguments that precede the sender and the recipients.
package struct SendmailCommand: Hashable, Sendable {
    /// The path of sendmail in Postfix and Exim.
    package static let standardProgram = "/usr/sbin/sendmail"
    /// `-G`: the mail comes from a gateway (Postfix). `-i`: a line with a single dot does not end the mail.
    package static let standardArguments = ["-G", "-i"]

    /// The absolute path of the program.
    package let program: String
    package let arguments: [String]

    package init(program: String = Self.standardProgram, arguments: [String] = Self.standardArguments) {
        self.program = program
        self.arguments = arguments
    }

    /// Parses an absolute path and its arguments, separated by blanks, without a shell. A program without arguments gets the
    /// standard arguments.
    ///
    /// - Returns: nil if the text does not begin with an absolute path.
    package init?(parsing text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.init(program: program, arguments: words.count == 1 ? Self.standardArguments : Array(words.dropFirst()))
    }

    /// Whether `-i` or `-oi` is given, so that a line with a single dot does not end the message.
    package var passesLoneDots: Bool { arguments.contains("-i") || arguments.contains("-oi") }
}

extension SendmailCommand: CustomStringConvertible {
    /// The command in the form that `init(parsing:)` reads.
    package var description: String { ([program] + arguments).joined(separator: " ") }
}
