import Foundation
import TestSupport
import Testing

private enum Gate {
    static let size = ProcessInfo.processInfo.environment["SMIME_TEST_GATE"].flatMap { Int($0) }
    static let memoryLimit = 64 << 20
    static let gcm = "aes-256-gcm"
}

private enum Way: CaseIterable {
    case file, pipe
}

/// Checks of a release at full size: `scripts/test --gate` runs them with the release binary and a message of
/// SMIME_TEST_GATE bytes.
@Suite(.serialized, .enabled(if: Gate.size != nil, "runs with scripts/test --gate"))
struct ReleaseGateTests {
    private let bench: Workbench

    init() throws { bench = try Workbench(size: Gate.size ?? 0) }

    @Test(arguments: Way.allCases)
    fileprivate func `signing and verifying stay within the memory limit`(_ way: Way) throws {
        try bench.expectSuccess("sign", input: "mail", by: way, into: "signed")
        try bench.expectSuccess("verify", input: "signed", by: way, into: "report")
    }

    @Test(arguments: [Gate.gcm, "aes-256-cbc"], Way.allCases)
    fileprivate func `encrypting and decrypting stay within the memory limit and keep every byte`(
        _ cipher: String,
        _ way: Way
    ) throws {
        try bench.expectSuccess("encrypt --cipher \(cipher)", input: "mail", by: way, into: "encrypted")
        try bench.expectSuccess("decrypt", input: "encrypted", by: way, into: "decrypted")
        #expect(try bench.digestOfBody("decrypted") == bench.digestOfBody("mail"))
    }

    @Test(arguments: Way.allCases)
    fileprivate func `a flipped bit near the end of a GCM message prevents all output`(_ way: Way) throws {
        try bench.expectSuccess(
            "encrypt --outform der --cipher \(Gate.gcm)",
            input: "mail",
            by: .file,
            into: "encrypted"
        )
        try bench.flip("encrypted", fromEnd: 1000)
        let result = try bench.smime("decrypt --inform der", input: "encrypted", by: way, into: "decrypted")
        #expect(result.status == 65)
        #expect(try bench.length("decrypted") == 0)
        let named = try bench.smime("decrypt --inform der -o named", input: "encrypted", by: way, into: "decrypted")
        #expect(named.status == 65)
        #expect(bench.exists("named") == false)
    }
}

/// A folder with a large mail and a store that contains alice; removed after the test.
private final class Workbench {
    private let folder: URL
    private let environment: [String: String]

    init(size: Int) throws {
        folder = URL(filePath: "/var/tmp/smime-gate-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var environment = ProcessInfo.processInfo.environment
        environment["CERTS"] = Fixtures.certs.path
        environment["SMIME"] = try Tool.smime().path
        environment["SMIME_HOME"] = folder.appending(path: "store").path
        environment["TMPDIR"] = folder.path
        self.environment = environment
        try shell(
            """
            set -e
            echo test >password
            "$SMIME" import "$CERTS/alice/alice.p12" --password-file password
            "$SMIME" import "$CERTS/ca/root.pem" --trust
            printf '%s\\r\\n' 'From: alice@example.com' 'To: alice@example.com' 'MIME-Version: 1.0' \
                'Content-Type: application/octet-stream' 'Content-Transfer-Encoding: base64' '' >mail
            head -c \(size / 78 * 57) /dev/urandom | base64 -w 76 | sed 's/$/\\r/' >>mail
            """
        )
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs the command on a file, or with pipes for input and output.
    func smime(_ words: String, input: String, by way: Way, into output: String) throws
        -> CommandResult
    {
        switch way {
        case .file: try run("\"$SMIME\" \(words) \(input) >\(output)")
        case .pipe:
            try run(
                "{ cat \(input) | \"$SMIME\" \(words); echo $? >status; } | cat >\(output); exit $(cat status)"
            )
        }
    }

    func expectSuccess(_ words: String, input: String, by way: Way, into output: String) throws {
        let result = try smime(words, input: input, by: way, into: output)
        #expect(result.status == 0, "\(words): \(result.errorText)")
        let peak = try #require(result.peakMemory)
        print("gate: \(words), \(way): \(peak / 1024) KiB, \(result.processorTime) CPU")
        #expect(peak <= Gate.memoryLimit, "\(words)")
    }

    func digestOfBody(_ name: String) throws -> String {
        try shell("sed '1,/^\\r*$/d' \(name) | sha256sum").text
    }

    func flip(_ name: String, fromEnd distance: Int) throws {
        let file = try FileHandle(forUpdating: folder.appending(path: name))
        defer { try? file.close() }
        let offset = try file.seekToEnd() - UInt64(distance)
        try file.seek(toOffset: offset)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data([byte ^ 1]))
    }

    func length(_ name: String) throws -> Int {
        try folder.appending(path: name).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? -1
    }

    func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: name).path)
    }

    private func run(_ script: String) throws -> CommandResult {
        var runner = CommandRunner("sh", environment: environment, folder: folder)
        runner.measuresMemory = true
        runner.timeLimit = .seconds(600)
        return try runner.run(["-c", script])
    }

    @discardableResult
    private func shell(_ script: String) throws -> CommandResult {
        var runner = CommandRunner("sh", environment: environment, folder: folder)
        runner.timeLimit = .seconds(600)
        let result = try runner.run(["-c", script])
        #expect(result.status == 0, "\(result.errorText)")
        return result
    }
}
