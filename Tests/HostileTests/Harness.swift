import Foundation
import TestSupport
import Testing

/// The command under test, with a store that contains alice, bob and carol and trusts the test CA.
struct Harness: Sendable {
    /// Shared by all cases, which only read its store; removed when the process ends.
    static let shared = Result { try Harness() }

    let folder: URL
    private let program: String
    private let environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "smime-hostile-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        Doomed.add(folder.path)
        program = try Tool.smime().path
        var environment = ProcessInfo.processInfo.environment.filter { $0.key == "PATH" || $0.key == "LD_LIBRARY_PATH" }
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        environment["TMPDIR"] = folder.path
        environment["HOME"] = folder.path
        environment["PASSWORD"] = "test"
        environment["TZ"] = "UTC"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        self.environment = environment
        let certs = Fixtures.certs.path
        for name in ["alice", "bob", "carol"] {
            try succeed(["import", "\(certs)/\(name)/\(name).p12", "--password-env", "PASSWORD"])
        }
        try succeed(["import", "--trust", "\(certs)/ca/root.pem"])
    }

    private func succeed(_ arguments: [String]) throws {
        let result = try run(arguments)
        try #require(result.status == 0, "\(arguments): \(result.errorText)")
    }

    /// Runs the command, for at most `seconds`.
    func run(_ arguments: [String], input: [UInt8]? = nil, seconds: Int = 60, measuresMemory: Bool = false) throws
        -> CommandResult
    {
        var runner = CommandRunner(program, environment: environment, folder: folder)
        runner.timeLimit = .seconds(seconds)
        runner.measuresMemory = measuresMemory
        return try runner.run(arguments, input: input.map { .bytes($0) } ?? .nothing)
    }

    /// Runs one case and returns a line for the table, and the differences from what is expected.
    func judge(_ item: HostileCase) throws -> (line: String, complaints: [String]) {
        let input = try item.message()
        try Seeds.keep(input, of: item)
        let isVerify = item.verb[0] == "verify"
        let options = isVerify ? ["--json", "--no-harvest"] : []
        let result = try run(item.verb + options + ["--time", "2026-11-01T12:00:00Z"], input: input)
        let codes = isVerify ? Self.codes(result.text) : Self.bracketed(result.errorText)
        var complaints: [String] = []
        if result.isTimeout { complaints.append("did not end") }
        if let signal = result.signal { complaints.append("signal \(signal)") }
        switch item.expected {
        case .accept where result.status != 0: complaints.append("not accepted")
        case .warn where result.status == 0 && codes.isEmpty: complaints.append("plainly good")
        case .reject(let status, _):
            if result.status == 0 || status ?? result.status != result.status { complaints.append("not rejected so") }
            if !isVerify, !result.standardOutput.isEmpty { complaints.append("released something") }
        default: break
        }
        if (result.text + result.errorText).contains("ASN1Error") { complaints.append("speaks of our parser") }
        let missing = item.expected.codes.filter { !codes.contains($0) }
        if !missing.isEmpty { complaints.append("no \(missing.joined(separator: ", "))") }
        let said = isVerify ? codes.sorted().joined(separator: " ") : result.errorText.prefix(200).description
        let line = "\(item.name) | \(item.expected) | \(result.status) \(said)".replacing("\n", with: "; ")
        return (line, complaints)
    }

    /// All problem codes in a report.
    private static func codes(_ json: String) -> Set<String> {
        Set(json.matches(of: /"code"\s*:\s*"([^"]+)"/).map { String($0.output.1) })
    }

    /// All problem codes in text for users.
    private static func bracketed(_ text: String) -> Set<String> {
        Set(text.matches(of: /\(([a-z][a-z0-9-]+)\)/).map { String($0.output.1) })
    }
}

/// Folders that are removed when the process ends.
private enum Doomed {
    nonisolated(unsafe) private static var path = strdup("")

    static func add(_ path: String) {
        self.path = strdup(path)
        atexit { try? FileManager.default.removeItem(atPath: String(cString: Doomed.path ?? strdup("/nonexistent"))) }
    }
}

extension Seeds {
    static func keep(_ bytes: [UInt8], of item: HostileCase) throws {
        for target in [item.seed, "structure"] { try keep(bytes, as: item.name, for: target) }
    }
}
