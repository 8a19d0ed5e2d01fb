package import ByteStreams
import Foundation
package import SMIMEAgent

/// Passes messages to the sendmail program of the host's MTA: `sendmail -G -i -f SENDER -- RCPT…`.
///
/// The program reads the message from a file instead of a pipe, so that the message cannot be truncated if the filter is
/// killed.
public struct SendmailTransport: ContentTransport {
    private let command: SendmailCommand

    /// - Parameters:
    ///   - program: the absolute path of the program; nil means the path used by Postfix and Exim.
    ///   - arguments: the arguments before sender and recipients. Nil means `-G -i`: the mail comes from a gateway (Postfix),
    ///     and a line with a single dot does not end the mail.
    public init(program: String? = nil, arguments: [String]? = nil) {
        command = SendmailCommand(
            program: program ?? SendmailCommand.standardProgram,
            arguments: arguments ?? SendmailCommand.standardArguments
        )
    }

    package init(_ command: SendmailCommand) { self.command = command }

    /// Passes the message to the program on standard input, and waits for the program to end.
    ///
    /// - Returns: the word after `queued as` or `id=` in the program's output; nil if there is none.
    /// - Throws: `TransportError`, even if the program succeeds but has not read the whole message.
    package func send(
        _ content: any ByteSource,
        from sender: String,
        to recipients: [String]
    ) async throws(TransportError) -> String? {
        try run(content, from: sender, to: recipients)
    }

    private func run(
        _ content: any ByteSource,
        from sender: String,
        to recipients: [String]
    ) throws(TransportError) -> String? {
        let program = command.program
        let words = [program] + command.arguments + ["-f", sender.isEmpty ? "<>" : sender, "--"] + recipients
        let size: Int
        let (file, output): (SpooledFile, SpooledFile)
        do {
            file = try SpooledFile(of: content)
            let message = try file.rewound()
            size = message.count
            guard try command.passesLoneDots || !Self.hasLoneDot(message) else {
                throw TransportError(
                    "\(program): a line that is a single dot would end the message; add -i to its arguments"
                )
            }
            output = try SpooledFile { _ in }
        } catch { throw error as? TransportError ?? TransportError("\(error)") }
        let child = ChildProgram(
            path: program,
            words: words,
            standardInput: file.descriptor,
            standardOutput: output.descriptor
        )
        switch try child.run() {
        case .exited(0):
            // The child shares this open file, so the offset shows how much it has read.
            let read = Int(lseek(file.descriptor, 0, SEEK_CUR))
            guard read >= size else {
                throw TransportError("\(program): status 0, though it read only \(read) of the message's \(size) bytes")
            }
            return Self.queueID(in: output)
        case .exited(let status):
            let lines = Self.lines(of: output)
            let first = lines.first.map { ": \($0)" } ?? ""
            throw TransportError("\(program): status \(status)\(first)", status: status, output: lines)
        case .signalled(let signal): throw TransportError("\(program): ended by signal \(signal)")
        }
    }

    /// Whether a line of the message, with CRLF or LF or without a line end, consists of a single dot.
    private static func hasLoneDot(_ message: any ByteSource) throws -> Bool {
        let dot = UInt8(ascii: ".")
        let reader = message.reader()
        let window = Window()
        // The state of the current line: empty, a single dot, or anything else.
        var (isEmpty, isDot) = (true, false)
        while case let count = try window.fill(from: reader), count > 0 {
            let bytes = window.prefix(count)
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "\n"):
                    if isDot { return true }
                    (isEmpty, isDot) = (true, false)
                case UInt8(ascii: "\r") where isDot: break
                case let byte: (isEmpty, isDot) = (false, isEmpty && byte == dot)
                }
            }
        }
        return isDot
    }

    /// The queue ID in the program's output: letters, digits, hyphens, dots and underscores; nil if there is none.
    private static func queueID(in file: SpooledFile) -> String? {
        guard let source = try? file.rewound(), let bytes = try? source.bytes(in: 0..<min(source.count, 4096)) else {
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let match = text.firstMatch(of: /(?i)(?:queued as |\bid=)([A-Za-z0-9._-]{1,64})/)
        return match.map { String($0.1) }
    }

    /// The lines of the program's output that are not empty, each up to 500 bytes, from the first 16 KiB.
    private static func lines(of file: SpooledFile) -> [String] {
        guard let source = try? file.rewound(), let bytes = try? source.bytes(in: 0..<min(source.count, 16_384)) else {
            return []
        }
        return bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .map { String(decoding: $0.prefix(500), as: UTF8.self) }
    }
}
