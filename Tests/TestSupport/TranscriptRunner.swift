public import Foundation
import Testing

/// Runs one transcript in a folder of its own, with a home, a store and a folder for temporaries of its own.
public struct TranscriptRunner {
    let transcript: Transcript
    /// The current folder of every run; its sisters are `home`, `store`, `tmp` and `bin`.
    let folder: URL
    /// What the last run left.
    var last: CommandResult?
    /// Files recorded in place of what the transcript says.
    var recorded: [String: String] = [:]
    /// What is not as the transcript says.
    var findings: [Finding] = []

    private let root: URL
    private let tools: [String: URL]
    private var environment: [String: String]
    private var input = CommandRunner.Input.nothing

    /// `tools` are the programs under test; others are found in PATH.
    public init(_ transcript: Transcript, tools: [String: URL]) throws {
        self.transcript = transcript
        self.tools = tools
        root = FileManager.default.temporaryDirectory.appending(path: "smime-test-\(UUID().uuidString.prefix(8))")
        folder = root.appending(path: "work", directoryHint: .isDirectory)
        environment = Self.environment(below: root)
    }

    /// Runs every step; what is wrong becomes an issue at the transcript's own line.
    ///
    /// The folder is removed in any case.
    public mutating func run() throws {
        for finding in try review() {
            Issue.record("\(finding.text)", sourceLocation: here(finding.line))
        }
    }

    /// Runs every step and says what is wrong.
    public mutating func review() throws -> [Finding] {
        try prepare()
        defer { removeFolder() }
        for step in transcript.steps {
            guard try run(step) else { break }
        }
        if !recorded.isEmpty {
            try transcript.record(recorded)
            findings.append(
                Finding(line: 1, text: "recorded \(recorded.keys.sorted()): read the difference, run again")
            )
        }
        return findings
    }

    private func prepare() throws {
        let files = FileManager.default
        for name in ["work", "home", "tmp", "bin"] {
            try files.createDirectory(
                at: root.appending(path: name),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        for (name, tool) in tools {
            try files.createSymbolicLink(at: root.appending(path: "bin/\(name)"), withDestinationURL: tool)
        }
        for (name, text) in transcript.files {
            let url = path(name)
            try files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    /// Makes folders writable again first: a session may have closed some.
    private func removeFolder() {
        _ = try? CommandRunner("chmod").run(["-R", "u+rwX", root.path])
        try? FileManager.default.removeItem(at: root)
    }

    /// Whether the session goes on after `step`.
    private mutating func run(_ step: Transcript.Step) throws -> Bool {
        let words = step.words.map(expand)
        let arguments = Array(words.dropFirst())
        switch (words[0], arguments.count) {
        case ("env", 1):
            let pair = arguments[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init
            )
            environment[pair[0]] = pair.count == 2 ? pair[1] : nil
        case ("stdin", 1):
            input = .file(path(arguments[0]))
        case ("needs", 1):
            return isInstalled(arguments[0], step)
        case ("gpgsm", _):
            return try isInstalled("gpgsm", step) && execute(words, step)
        default:
            return try check(step, words[0], arguments) || execute(words, step)
        }
        return true
    }

    /// Runs a program; false if it did not end as the transcript says, since what follows has no ground then.
    private mutating func execute(_ words: [String], _ step: Transcript.Step) throws -> Bool {
        guard let program = program(words[0]) else {
            findings.append(Finding(line: step.line, text: "no program \(words[0])"))
            return false
        }
        let arguments = words[0] == "sh" ? ["-c"] + words.dropFirst() : Array(words.dropFirst())
        let result = try CommandRunner(program, environment: environment, folder: folder).run(arguments, input: input)
        input = .nothing
        last = result
        if words[0] == "smime", let complaint = Self.complaintOfReport(result, arguments) {
            findings.append(Finding(line: step.line, text: "the report is not as its schema says: \(complaint)"))
        }
        guard let complaint = complaint(about: result, step.isNegated) else { return true }
        let text = "\(words.joined(separator: " ")): \(complaint)\n\(report(result))"
        findings.append(Finding(line: step.line, text: text))
        return false
    }

    private func complaint(about result: CommandResult, _ isNegated: Bool) -> String? {
        if result.isTimeout { return "did not end within its time" }
        if let signal = result.signal { return "ended by signal \(signal)" }
        if result.errorText.contains("ERROR: AddressSanitizer") || result.errorText.contains("ERROR: LeakSanitizer") {
            return "the sanitizer found something"
        }
        return (result.status != 0) == isNegated ? nil : "exited \(result.status)"
    }

    /// Where the program `name` is; the tools under test come first.
    private func program(_ name: String) -> String? {
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        let candidates = name.contains("/") ? [path(name).path] : folders.map { "\($0)/\(name)" }
        return candidates.first { access($0, X_OK) == 0 }
    }

    private func isInstalled(_ tool: String, _ step: Transcript.Step) -> Bool {
        if program(tool) != nil { return true }
        print("note: \(transcript.testDescription).txt:\(step.line): \(tool) is not installed, the rest is skipped")
        return false
    }

    private func expand(_ word: String) -> String {
        ["CERTS", "WORK", "SMIME_HOME", "HOME"].reduce(word) { word, name in
            word.replacing("$\(name)", with: environment[name] ?? "")
        }
    }

    private func here(_ line: Int) -> SourceLocation {
        SourceLocation(
            fileID: "Transcripts/\(transcript.url.lastPathComponent)",
            filePath: transcript.url.path,
            line: line,
            column: 1
        )
    }

    /// Nothing of the user's surroundings but the way to programs, and what a sanitizer is to do.
    private static func environment(below root: URL) -> [String: String] {
        let outer = ProcessInfo.processInfo.environment
        var inner = outer.filter { ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].contains($0.key) }
        inner["ASAN_OPTIONS"] = outer["SMIME_TEST_ASAN_OPTIONS"] ?? outer["ASAN_OPTIONS"]
        inner["LSAN_OPTIONS"] = outer["LSAN_OPTIONS"]
        inner["CERTS"] = Fixtures.certs.path
        inner["GNUPGHOME"] = root.appending(path: "home/.gnupg").path
        inner["HOME"] = root.appending(path: "home").path
        inner["LC_ALL"] = "C.UTF-8"
        inner["PATH"] = root.appending(path: "bin").path + ":" + (outer["PATH"] ?? "/usr/bin:/bin")
        // Long enough for a machine that is busy with other tests.
        inner["SMIME_STORE_TIMEOUT"] = "300"
        inner["SMIME_HOME"] = root.appending(path: "store").path
        inner["TMPDIR"] = root.appending(path: "tmp").path
        inner["TZ"] = "UTC"
        inner["WORK"] = root.appending(path: "work").path
        return inner
    }
}

extension TranscriptRunner {
    /// Something that is not as the transcript says, and its line there.
    public struct Finding: Sendable {
        public let line: Int
        public let text: String
    }

    /// The file a transcript means by `name`.
    func path(_ name: String) -> URL { URL(filePath: name, relativeTo: folder).absoluteURL }

    /// What a run said, cut where it is long.
    func report(_ result: CommandResult) -> String {
        [("stdout", result.text), ("stderr", result.errorText)]
            .filter { !$0.1.isEmpty }
            .map { "\($0.0): \($0.1.prefix(4000))" }
            .joined(separator: "\n")
    }
}
