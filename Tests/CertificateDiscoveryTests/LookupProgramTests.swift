import CertificateDiscovery
import Foundation
import TestSupport
import Testing

@Suite struct LookupProgramTests {
    private func program(_ script: String, in folder: borrowing TemporaryFolder) throws -> LookupProgram {
        let file = folder.file("lookup")
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        return LookupProgram(path: file.path)
    }

    private func output(of script: String, within limit: Duration = .seconds(60)) throws -> String? {
        let folder = try TemporaryFolder()
        let output = try program(script, in: folder).output(about: "bob@example.com", until: .now + limit)
        return output.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `the program gets the address alone, and nothing of ours`() throws {
        #expect(try output(of: "echo \"$#:$1\"") == "1:bob@example.com\n")
        #expect(
            try output(of: "cat; env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort")
                == "LC_ALL=C.UTF-8\nPATH=/usr/bin:/bin\n"
        )
        #expect(try output(of: "pwd") == "/\n")
        let open = open("/dev/null", O_RDONLY)
        defer { close(open) }
        // Descriptor 3 is the folder that ls itself reads.
        #expect(try output(of: "ls /proc/self/fd") == "0\n1\n2\n3\n")
    }

    @Test func `the exit status says whether there is something`() throws {
        #expect(try output(of: "exit 1") == nil)
        #expect(throws: DiscoveryOutage("the program says: try later")) { try output(of: "exit 75") }
        #expect(throws: DiscoveryOutage.fault("the program ended with status 2")) { try output(of: "exit 2") }
        #expect(throws: DiscoveryOutage.fault("the program was ended by signal 15")) { try output(of: "kill $$") }
        #expect(throws: DiscoveryOutage.fault("the program cannot be started: No such file or directory")) {
            try LookupProgram(path: "/nowhere").output(about: "bob@example.com", until: .now + .seconds(60))
        }
    }

    @Test func `a program that hangs or prints without end is ended with its children`() throws {
        let folder = try TemporaryFolder()
        let mark = folder.file("child").path
        #expect(throws: DiscoveryOutage.timeLimit) {
            try output(of: "sleep 600 & echo $! >\(mark); wait", within: .seconds(2))
        }
        let child = try #require(Int32(String(contentsOfFile: mark, encoding: .utf8).trimmingCharacters(in: .newlines)))
        // It may take a moment to die, and stay a zombie until the first process reaps it.
        func isAlive() -> Bool {
            let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
            return state.map { !$0.contains(" Z ") && !$0.contains(" X ") } ?? false
        }
        for _ in 0..<6000 where isAlive() { usleep(10_000) }
        #expect(!isAlive())
        // Others may have added certificates to the right one, so mail waits.
        #expect(throws: DiscoveryOutage("the program prints too much", holdsMail: true)) {
            try output(of: "cat /dev/zero")
        }
        // A child that keeps the pipe open does not delay the answer.
        #expect(try output(of: "sleep 600 & echo done") == "done\n")
    }
}
