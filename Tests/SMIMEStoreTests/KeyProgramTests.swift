import Foundation
import SMIMEStore
import TestSupport
import Testing

@Suite struct KeyProgramTests {
    private func output(of script: String, within limit: Duration = .seconds(60)) throws -> String {
        let folder = try TemporaryFolder()
        let file = folder.file("key")
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        return String(decoding: try KeyProgram(path: file.path).output(within: limit), as: UTF8.self)
    }

    private func failure(of script: String, within limit: Duration = .seconds(60)) throws -> String {
        "\(try #require(#expect(throws: KeystoreError.self) { try output(of: script, within: limit) }))"
    }

    @Test func `what stays behind with the pipe does not hold up the key`() throws {
        #expect(try output(of: "sleep 600 & echo key") == "key\n")
    }

    @Test func `a program that hangs is ended with its children`() throws {
        let folder = try TemporaryFolder()
        let mark = folder.file("child").path
        let text = try failure(of: "sleep 600 & echo $! >\(mark); wait", within: .seconds(2))
        #expect(text.contains("took longer than 2 seconds"), "\(text)")
        let child = try #require(Int32(String(contentsOfFile: mark, encoding: .utf8).trimmingCharacters(in: .newlines)))
        func isAlive() -> Bool {
            let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
            return state.map { !$0.contains(" Z ") && !$0.contains(" X ") } ?? false
        }
        for _ in 0..<6000 where isAlive() { usleep(10_000) }
        #expect(!isAlive())
    }

    @Test func `a program that prints without end is ended, and one that fails is no key`() throws {
        #expect(try failure(of: "yes").contains("prints more than a key"))
        #expect(try failure(of: "sh -c yes").contains("prints more than a key"))
        #expect(try failure(of: "echo key; exit 3").contains("ended with status 3"))
        #expect(try failure(of: "kill -TERM $$").contains("ended by signal 15"))
    }

    @Test func `it gets nothing of ours`() throws {
        let open = open("/dev/null", O_RDONLY)
        defer { close(open) }
        #expect(try output(of: "pwd; cat; ls /proc/self/fd") == "/\n0\n1\n2\n3\n")
    }
}
