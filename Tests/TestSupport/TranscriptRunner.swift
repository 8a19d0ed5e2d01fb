public import Foundation
import Testing

/// Runs a transcript in its own folder, with its own home, store and folder for temporary files.
public struct TranscriptRunner: Sendable {
    let transcript: Transcript
    /// The working folder of every run; beside it are `home`, `store`, `tmp` and `bin`.
    let folder: URL
    /// The result of the last run.
    var last: CommandResult?
    /// Newly recorded contents of files of the transcript.
    var recorded: [String: String] = [:]
    /// The differences from the transcript.
    var findings: [Finding] = []

    private let root: URL
    private let tools: [String: URL]
    private var environment: [String: String]
    private var input = CommandRunner.Input.nothing

    /// - Parameter tools: the programs under test; other programs are found in PATH.
    public init(_ transcript: Transcript, tools: [String: URL]) throws {
        self.transcript = transcript
        self.tools = tools
        root = FileManager.default.temporaryDirectory.appending(path: "smime-test-\(UUID().uuidString.prefix(8))")
        folder = root.appending(path: "work", directoryHint: .isDirectory)
        environment = Self.environment(below: root)
    }

    /// Runs every step, on a thread of its own. Each difference becomes an issue at the transcript's line.
    ///
    /// The folder is always removed.
    public func run() async throws {
        let findings = try await BlockingWork.run {
            var runner = self
            return try runner.review()
        }
        for finding in findings {
            Issue.record("\(finding.text)", sourceLocation: here(finding.line))
        }
    }

    /// Runs every step and returns the differences.
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

    /// Makes folders writable before removing them: a session may have changed permissions.
    private func removeFolder() {
        _ = try? CommandRunner("chmod").run(["-R", "u+rwX", root.path])
        try? FileManager.default.removeItem(at: root)
    }

    /// Runs `step`; returns whether the session continues.
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

    /// Runs a program. Returns false if its status is not the expected one, since later steps depend on it.
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

    /// The path of the program `name`; the tools under test come first.
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

    /// An environment with nothing of the user's except the search path, and the options of sanitizers.
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
    /// A difference from the transcript, and its line.
    public struct Finding: Sendable {
        public let line: Int
        public let text: String
    }

    /// The path of the file that a transcript calls `name`.
    func path(_ name: String) -> URL { URL(filePath: name, relativeTo: folder).absoluteURL }

    /// The output of a run, truncated if it is long.
    func report(_ result: CommandResult) -> String {
        [("stdout", result.text), ("stderr", result.errorText)]
            .filter { !$0.1.isEmpty }
            .map { "\($0.0): \($0.1.prefix(4000))" }
            .joined(separator: "\n")
    }
}
