public import Foundation
public import Testing

/// A recorded session of a command-line tool: steps, followed by the files they use.
///
/// Steps that run a program; the checks refer to the last run:
/// - `NAME ARGUMENT…` must exit with 0, `! NAME ARGUMENT…` with another status. Neither may be ended by a signal.
///   `sh 'SCRIPT'` runs a shell script.
/// - `stdin FILE` sets the input of the next run.
///
/// Checks of the last run:
/// - `status N`; `stdout TEXT` and `stderr TEXT` (contained), `! stdout TEXT`, `! stdout .` (empty).
/// - `stdout-is FILE`: byte for byte. With RECORD_TRANSCRIPTS=1 the file is recorded anew, and the test fails.
/// - `json PATH VALUE`: the value in the JSON on standard output, as in `json signers.0.integrity.ok true`; `count` is the
///   length of an array, and `! json PATH` requires that there is no value.
///
/// Files: `stdout > FILE`, `stderr > FILE`, `write FILE TEXT`, `mkdir DIR`, `truncate FILE LENGTH`, `corrupt FILE OFFSET`
/// (negative: from the end), `cmp A B`, `exists FILE`, `! exists FILE`, `mode 600 FILE`.
///
/// Others: `env NAME=VALUE`, `needs TOOL` (ends the session with a note if TOOL is missing), `# comment`. Words are
/// separated by blanks and grouped by quotes of either kind. `$CERTS`, `$WORK` (the working folder), `$HOME` and
/// `$SMIME_HOME` are expanded. A file begins with `-- NAME --`, or with `-- NAME crlf --` if its lines end in CRLF.
public struct Transcript: Sendable {
    /// One line of the session.
    public struct Step: Sendable {
        public let line: Int
        public let isNegated: Bool
        public let words: [String]
    }

    public let url: URL
    public let steps: [Step]
    public let files: [String: String]

    public init(contentsOf url: URL) throws {
        var steps: [Step] = []
        var files: [String: String] = [:]
        var current: FileHeader?
        for (index, line) in try Self.lines(of: url).enumerated() {
            if let header = FileHeader(line) {
                current = header
                files[header.name] = ""
            } else if let header = current {
                files[header.name, default: ""] += line + header.lineEnd
            } else if let step = try Step(line: index + 1, text: line) {
                steps.append(step)
            }
        }
        self.url = url
        self.steps = steps
        self.files = files
    }

    /// The transcripts in a folder, by name.
    public static func all(in folder: URL) throws -> [Transcript] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "txt" }
            .sorted { $0.path < $1.path }
            .map(Transcript.init(contentsOf:))
    }

    /// Rewrites the transcript with new contents for some of its files.
    func record(_ contents: [String: String]) throws {
        var text = ""
        var isReplaced = false
        for line in try Self.lines(of: url) {
            if let header = FileHeader(line) {
                let recorded = contents[header.name]
                isReplaced = recorded != nil
                text += line + "\n" + (recorded ?? "").replacing("\r\n", with: "\n")
            } else if !isReplaced {
                text += line + "\n"
            }
        }
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private static func lines(of url: URL) throws -> [Substring] {
        let lines = try String(contentsOf: url, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        return lines.last == "" ? lines.dropLast() : lines
    }
}

extension Transcript: CustomTestStringConvertible {
    public var testDescription: String { url.deletingPathExtension().lastPathComponent }
}

extension Transcript.Step {
    struct UnclosedQuote: Error { let line: Int }

    /// Nil for blank lines and comments.
    init?(line: Int, text: Substring) throws {
        guard text.first(where: { $0 != " " && $0 != "\t" }) != "#" else { return nil }
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            switch character {
            case quote: quote = nil
            case "'" where quote == nil, "\"" where quote == nil:
                quote = character
                word = word ?? ""
            case " " where quote == nil, "\t" where quote == nil:
                if let ended = word { words.append(ended) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw UnclosedQuote(line: line) }
        if let word { words.append(word) }
        guard let first = words.first else { return nil }
        let isNegated = first == "!" && words.count > 1
        self.init(line: line, isNegated: isNegated, words: isNegated ? Array(words.dropFirst()) : words)
    }
}

/// A line `-- name --` or `-- name crlf --`.
private struct FileHeader {
    let name: String
    let lineEnd: String

    init?(_ line: Substring) {
        guard line.hasPrefix("-- "), line.hasSuffix(" --"), line.count > 6 else { return nil }
        let words = line.dropFirst(3).dropLast(3).split(separator: " ")
        guard let name = words.first, words.count == 1 || words[1...] == ["crlf"] else { return nil }
        self.name = String(name)
        lineEnd = words.count == 1 ? "\n" : "\r\n"
    }
}
