import Foundation
import InternetMessage
import TestSupport
import Testing

/// Compares our interpretation of From with that of Python's `email` package.
@Suite struct SoleMailboxDifferentialTests {
    private static let count = 100_000

    /// The path of a Python interpreter; nil if there is none.
    private static var python: URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return (folders.map { URL(filePath: "\($0)/python3") } + [URL(filePath: "/usr/bin/python3")])
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    @Test(.enabled(if: python != nil, "python3 is not here, whose reading is compared"))
    func `Python reads the same address in every sole mailbox`() throws {
        let python = try #require(Self.python)
        var random = SeededGenerator(15)
        var lines: [String] = []
        for _ in 0..<Self.count {
            let body = Array(" \(FromFieldGenerator.body(&random))".utf8)
            let header = try HeaderBlock(parsing: Array("From:".utf8) + body + Array("\r\n\r\n".utf8))
            guard header.fields.count == 1, let field = header.first("From"), let mailbox = Mailbox(soleIn: field)
            else {
                continue
            }
            lines.append("\(Self.hexadecimal(body)) \(Self.hexadecimal(Array(mailbox.address.text.utf8)))\n")
        }
        #expect(lines.count > Self.count / 10)
        var runner = CommandRunner(python.path)
        runner.timeLimit = .seconds(300)
        let script = Fixtures.root.appending(path: "Tests/Interop/read-from.py").path
        let result = try runner.run(["-I", script], input: .bytes(Array(lines.joined().utf8)))
        try #require(result.status == 0, "python3: \(result.errorText)")
        var said = result.text.split(separator: "\n")
        #expect(said.popLast().map(String.init) == "\(lines.count)")
        #expect(said.isEmpty, "\(said.count) readings differ, the first: \(said.prefix(5).joined(separator: "\n"))")
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
