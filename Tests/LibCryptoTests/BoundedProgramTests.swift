import Foundation
import LibCrypto
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite struct BoundedProgramTests {
    private func run(
        _ script: String,
        maximumCount: Int = 1_000,
        for time: Duration = .seconds(60)
    ) throws(BoundedProgram.Failure) -> (status: Int32, output: [UInt8]) {
        try BoundedProgram("/bin/sh", ["-c", script], maximumCount: maximumCount).run(until: .now + time)
    }

    @Test func `status and output are those of the program`() throws {
        let (status, output) = try run("printf hello; echo not this >&2; exit 3")
        #expect(status == 3)
        #expect(output == Array("hello".utf8))
    }

    @Test func `a program gets little of this process`() throws {
        let environment = try BoundedProgram("/usr/bin/env", maximumCount: 1_000).run(until: .now + .seconds(60))
        #expect(String(decoding: environment.output, as: UTF8.self) == "PATH=/usr/bin:/bin\nLC_ALL=C.UTF-8\n")
        let (_, input) = try run("cat; pwd")
        #expect(input == Array("/\n".utf8))
    }

    @Test func `a program that does not end is killed`() {
        #expect(throws: BoundedProgram.Failure.timeLimit) { try run("sleep 60", for: .milliseconds(200)) }
    }

    @Test func `a program that prints too much is killed`() {
        #expect(throws: BoundedProgram.Failure.printsTooMuch) {
            try run("while :; do echo more; done", maximumCount: 100)
        }
    }

    @Test func `the end by a signal is an error`() {
        #expect(throws: BoundedProgram.Failure.signalled(SIGKILL)) { try run("kill -KILL $$") }
    }

    @Test func `a program that is not there is an error`() {
        #expect(throws: BoundedProgram.Failure.notStarted(code: ENOENT)) {
            try BoundedProgram("/nonexistent", maximumCount: 10).run(until: .now + .seconds(60))
        }
    }

    @Test func `a program whose file is still being written starts when that is over`() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("program")
        try Data("#!/bin/sh\necho started\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        let writer = open(file.path, O_WRONLY | O_CLOEXEC)
        try #require(writer >= 0)
        Thread.detachNewThread {
            usleep(50_000)
            close(writer)
        }
        let result = try BoundedProgram(file.path, maximumCount: 100).run(until: .now + .seconds(60))
        #expect(result.output == Array("started\n".utf8))
    }
}
