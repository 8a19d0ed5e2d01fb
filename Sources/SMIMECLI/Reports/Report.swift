import ByteStreams
import Foundation
import InternetMessage
import SMIMEAgent
import Synchronization

/// A report as JSON: one object on one line, with sorted keys in snake_case, including `"schema": 1`.
enum Report {
    /// The version of all reports of smime. Within one version, keys may be added, but no key changes its meaning.
    static let schema = 1

    private static let begun = Atomic(false)
    /// Whether a report, or a part of one, was printed. Standard output contains only one object.
    static var isBegun: Bool { begun.load(ordering: .relaxed) }

    /// Records that standard output contains a report.
    static func begin() { begun.store(true, ordering: .relaxed) }

    /// Prints `report`, which must be encoded as an object.
    static func print(_ report: some Encodable) throws {
        let text = try text(report)
        begin()
        try Console.print(text)
    }

    /// The line that `print` prints.
    static func text(_ report: some Encodable) throws -> String {
        String(decoding: try encoder().encode(Versioned(report: report)), as: UTF8.self).escapedForJSON
    }

    /// The encoder for all JSON.
    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private struct Versioned<Body: Encodable>: Encodable {
        let report: Body

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Report.schema, forKey: .schema)
        }
    }

    private enum Key: CodingKey { case schema }
}

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

/// A report as JSON with one array of any length: the array is written element by element.
///
/// The report is an object on one line, like the reports that `Report` prints. Its two keys are sorted: first the array, then
/// `schema`.
struct ReportList {
    private let sink = DescriptorSink.standardOutput()
    private let encoder = Report.encoder()
    private var text: String

    /// - Parameter key: the array's name, which must precede `schema` alphabetically.
    init(_ key: String) { text = "{\"\(key)\":[" }

    /// Adds one element.
    mutating func add(_ element: some Encodable) throws {
        text += String(decoding: try encoder.encode(element), as: UTF8.self).escapedForJSON
        try write(text)
        text = ","
    }

    /// Closes the array and the object.
    func finish() throws {
        try write((text == "," ? "" : text) + "],\"schema\":\(Report.schema)}\n")
        do { try sink.flush() } catch StreamError.writeFailed(let code) { throw Self.failure(code) }
    }

    private func write(_ text: String) throws {
        Report.begin()
        do { try sink.write(text) } catch StreamError.writeFailed(let code) { throw Self.failure(code) }
    }

    private static func failure(_ code: Int32) -> Failure {
        Failure(.inputOutput, "standard output: cannot write: \(String(cString: strerror(code)))")
    }
}
