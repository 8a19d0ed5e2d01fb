import Foundation
public import Streams

/// Hands messages to the sendmail program of whatever MTA there is: `sendmail -G -i -f SENDER -- RCPT…`.
///
/// The program reads the message from a file and not from a pipe, so that our own end never makes half a message of it.
public struct SendmailTransport: MailTransport {
    /// Where Postfix, Exim and OpenSMTPD put it.
    public static let standardProgram = "/usr/sbin/sendmail"
    /// What it is told besides sender and recipients: the mail comes from a gateway (Postfix), and a lone dot does not
    /// end it.
    public static let standardArguments = ["-G", "-i"]

    private let program: String
    private let arguments: [String]

    public init(program: String = Self.standardProgram, arguments: [String] = Self.standardArguments) {
        self.program = program
        self.arguments = arguments
    }

    /// Reads a program by its whole path, and its arguments, parted by blanks; no shell reads them. A program alone gets the
    /// standard arguments.
    ///
    /// - Returns: nil if there is no path in front.
    public init?(parsing text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.init(program: program, arguments: words.count == 1 ? Self.standardArguments : Array(words.dropFirst()))
    }

    /// Gives the message to the program on its standard input, and waits for its end.
    public func send(_ file: SpooledFile, from sender: String, to recipients: [String]) throws(TransportError) {
        let words = [program] + arguments + ["-f", sender.isEmpty ? "<>" : sender, "--"] + recipients
        let said: SpooledFile
        do {
            _ = try file.rewound()
            said = try SpooledFile { _ in }
        } catch { throw TransportError("\(error)") }
        let child = ChildProgram(
            path: program,
            words: words,
            standardInput: file.descriptor,
            standardOutput: said.descriptor
        )
        switch try child.run() {
        case .exited(0): return
        case .exited(let status): throw TransportError("\(program): status \(status)\(Self.firstLine(of: said))")
        case .signalled(let signal): throw TransportError("\(program): ended by signal \(signal)")
        }
    }

    private static func firstLine(of file: SpooledFile) -> String {
        guard let source = try? file.rewound(), let bytes = try? source.bytes(in: 0..<min(source.count, 500)) else {
            return ""
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return line.isEmpty ? "" : ": \(String(decoding: line, as: UTF8.self))"
    }
}

extension SendmailTransport: CustomStringConvertible {
    /// The transport as `init(parsing:)` reads it.
    public var description: String { ([program] + arguments).joined(separator: " ") }
}
