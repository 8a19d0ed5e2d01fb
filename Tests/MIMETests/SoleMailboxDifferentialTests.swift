import Foundation
import MIME
import TestSupport
import Testing

/// Compares our reading of From with that of Python's `email` package.
@Suite struct SoleMailboxDifferentialTests {
    private static let count = 100_000

    /// The path of a Python; nil if there is none.
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
        let folder = FileManager.default.temporaryDirectory.appending(path: "from-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (fields, answers) = (folder.appending(path: "fields"), folder.appending(path: "answers"))
        try Data(lines.joined().utf8).write(to: fields)
        try Data().write(to: answers)
        let process = Process()
        process.executableURL = python
        process.arguments = ["-I", Fixtures.root.appending(path: "Tests/Interop/read-from.py").path]
        process.standardInput = try FileHandle(forReadingFrom: fields)
        process.standardOutput = try FileHandle(forWritingTo: answers)
        try process.run()
        process.waitUntilExit()
        var said = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
        #expect(said.popLast().map(String.init) == "\(lines.count)")
        #expect(said.isEmpty, "\(said.count) readings differ, the first: \(said.prefix(5).joined(separator: "\n"))")
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
