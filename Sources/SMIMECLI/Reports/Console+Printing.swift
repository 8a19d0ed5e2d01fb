import ByteStreams
import Foundation
import InternetMessage

extension Console {
    /// Writes lines of text to standard output; throws if they cannot be written.
    static func print(_ text: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { String($0).escapedForDisplay }.joined(separator: "\n")
        try Output.write(to: nil, isReport: true) {
            try $0.write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n")
        }
    }

    /// Writes the sentence of a verdict, and the lines below it, to standard output.
    ///
    /// - Parameter file: the file's name in front of the sentence; nil leaves it out.
    static func print(_ verdict: VerdictSentence, file: String?, lines: [String]) throws {
        let (head, rest) = verdict.parts
        let label = painted(head.escapedForDisplay, verdict, on: STDOUT_FILENO) + rest.escapedForDisplay
        let first = (file.map { "\($0.escapedForDisplay): " } ?? "") + label
        let text = ([first] + lines.map(\.escapedForDisplay)).joined(separator: "\n") + "\n"
        try Output.write(to: nil, isReport: true) { try $0.write(text) }
    }

    /// Writes the sentence of a verdict to standard error.
    static func note(_ verdict: VerdictSentence, file: String) {
        guard !isQuiet else { return }
        let (head, rest) = verdict.parts
        let label = painted(head.escapedForDisplay, verdict, on: STDERR_FILENO) + rest.escapedForDisplay
        write("smime: \(file.escapedForDisplay): \(label)\n")
    }

    private static func painted(_ text: String, _ verdict: VerdictSentence, on descriptor: Int32) -> String {
        isColored(descriptor) ? "\u{1B}[\(verdict.isValid ? "32" : "31")m\(text)\u{1B}[0m" : text
    }
}
