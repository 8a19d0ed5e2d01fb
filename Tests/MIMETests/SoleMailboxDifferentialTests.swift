import Foundation
import MIME
import TestSupport
import Testing

/// Compares our reading of From with that of Python's `email` package.
@Suite struct SoleMailboxDifferentialTests {
    private static let count = 100_000

    /// What fields are made of: honest pieces, and what parsers differ on.
    private static let pieces = [
        "carol", "Team", "J.", "x.y", "=?utf-8?q?Team=2C_x?=", "=?utf-8?b?PGFAYi5jPg==?=", "=?utf-8?q?a?=", "J\u{F6}rg",
        "O'Brien", "\"Team, Carol\"", "\"a\\\"b\"", "\"\"", "\"a;b:c\"", "\"a(b\"", "\"a\\\\\"", "(c)", "(a(b)c)",
        "(a\\)b)",
        "(a, b)", "(a\"b)", "(a;b:c)", "(=?utf-8?q?=29?=)", "()", "<carol@x.org>", "<bob@y.org>", "carol@x.org",
        "<\"a b\"@x.org>", "\"carol\"@x.org", "carol@b\u{FC}cher.example", "<@a.b:carol@x.org>", "carol@[192.0.2.1]",
        "Friends:",
        " ", " ", " ", " ", "\t", "\r\n ", ",", ";", ":", "<", ">", "@", ".", "\\", "\"", "(", ")", "[", "]", "=?",
        "?=",
        "\u{A0}", "\u{B}", "\r", "\u{0}", "\u{2028}", "-", "x@y", "@x.org",
    ]

    private static let frames: [[String]] = [
        ["carol@x.org"], ["<carol@x.org>"], ["Carol", " ", "<carol@x.org>"], ["\"Team, Carol\"", " ", "<carol@x.org>"],
        ["Carol", " ", "J.", " ", "\"x\"", " ", "<", "carol", "@", "x.org", ">"], ["carol@x.org", " ", "(Carol)"],
        ["(c)", "carol", "(d)", "@", "(e)", "x.org", " "], ["=?utf-8?q?Team=2C_x?=", "\r\n ", "<carol@x.org>"],
    ]

    /// A field's body: an honest form with some pieces put in, left out or changed, or pieces at random.
    private static func body(_ random: inout SeededGenerator) -> String {
        var words = frames.randomElement(using: &random) ?? []
        if Int.random(in: 0..<8, using: &random) == 0 { words = [] }
        let changes = words.isEmpty ? Int.random(in: 1...8, using: &random) : Int.random(in: 0...3, using: &random)
        for _ in 0..<changes {
            let place = Int.random(in: 0...words.count, using: &random)
            let piece = pieces.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where place < words.count: words.remove(at: place)
            case 1 where place < words.count: words[place] = piece
            default: words.insert(piece, at: place)
            }
        }
        return words.joined()
    }

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
            let body = Array(" \(Self.body(&random))".utf8)
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
