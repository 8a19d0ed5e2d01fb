import ByteStreams
import Foundation
import InternetMessage
import SMIMEAgent

extension Console {
    /// Writes text to standard output; throws if that fails.
    static func print(_ text: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { String($0).escapedForDisplay }.joined(separator: "\n")
        try Output.write(to: nil, isReport: true) {
            try $0.write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n")
        }
    }

    /// Writes the sentence of a verdict, and the lines that follow it, to standard output.
    ///
    /// - Parameter file: the name of the file, which is written before the sentence; nil if no name is written.
    static func print(_ verdict: VerdictSentence, file: String?, lines: [String]) throws {
        let first = sentence(verdict, behind: file.map { "\($0.escapedForDisplay): " } ?? "", on: STDOUT_FILENO)
        let text = ([first] + lines.map(\.escapedForDisplay)).joined(separator: "\n") + "\n"
        try Output.write(to: nil, isReport: true) { try $0.write(text) }
    }

    /// Writes the sentence of a verdict to standard error.
    static func note(_ verdict: VerdictSentence, file: String) {
        guard !isQuiet else { return }
        write(sentence(verdict, behind: "smime: \(file.escapedForDisplay): ", on: STDERR_FILENO) + "\n")
    }

    /// The sentence after `start`; for a terminal, in color and wrapped at blanks.
    private static func sentence(_ verdict: VerdictSentence, behind start: String, on descriptor: Int32) -> String {
        let head = verdict.parts.verdict.escapedForDisplay
        let text = WrappedText.text(start + head + verdict.parts.rest.escapedForDisplay, on: descriptor)
        guard text.hasPrefix(start + head) else { return text }
        return start + painted(head, verdict, on: descriptor) + text.dropFirst(start.count + head.count)
    }

    private static func painted(_ text: String, _ verdict: VerdictSentence, on descriptor: Int32) -> String {
        isColored(descriptor) ? painted(text, isValid: verdict.isValid) : text
    }

    private static func painted(_ text: String, isValid: Bool) -> String {
        "\u{1B}[\(isValid ? "32" : "31")m\(text)\u{1B}[0m"
    }

    /// The text of a mail, which begins with `verdict`; on a terminal with the verdict up to its colon in color.
    static func painted(mail text: String, _ verdict: ReadVerdict, on descriptor: Int32) -> String {
        guard verdict.tone != .neutral, isColored(descriptor), let end = verdict.sentence.firstIndex(of: ":") else {
            return text
        }
        let head = String(verdict.sentence[...end])
        return text.hasPrefix(head) ? painted(head, isValid: verdict.tone == .good) + text.dropFirst(head.count) : text
    }
}
