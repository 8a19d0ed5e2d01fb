import Foundation
import TestSupport
import Testing

@Suite struct CommandRunnerTests {
    @Test func `ten megabytes pass through a program that writes as much to standard error`() throws {
        let bytes = (0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let result = try CommandRunner("sh").run(["-c", "tee /dev/stderr"], input: .bytes(bytes))
        #expect(result.status == 0)
        #expect(result.standardOutput == bytes)
        #expect(result.standardError == bytes)
    }

    @Test func `a program that does not read its input does not end the tests`() throws {
        let result = try CommandRunner("true").run(input: .bytes([UInt8](repeating: 0, count: 1_000_000)))
        #expect(result.status == 0)
    }

    @Test func `a program that hangs is killed with its children`() throws {
        var runner = CommandRunner("sh")
        runner.timeLimit = .milliseconds(300)
        let result = try runner.run(["-c", "sleep 50; echo over"])
        #expect(result.isTimeout)
        #expect(result.signal == 9)
        #expect(result.text.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func `a remaining child process does not delay the result`() throws {
        let result = try CommandRunner("sh").run(["-c", "sleep 1200 & echo $!"])
        let child = try #require(pid_t(result.text.dropLast()))
        // Otherwise it would keep inherited resources, such as a lock that the tests run under.
        #expect(kill(child, SIGKILL) == 0)
    }

    @Test func `a program has no terminal, and its signal is reported`() throws {
        #expect(try CommandRunner("sh").run(["-c", "exec 3</dev/tty"]).status != 0)
        #expect(try CommandRunner("sh").run(["-c", "kill -SEGV $$"]).signal == SIGSEGV)
        #expect(try CommandRunner("sh").run(["-c", "exit 75"]).status == 75)
    }

    @Test func `peak memory is measured for the program alone`() throws {
        var runner = CommandRunner("sh")
        runner.measuresMemory = true
        let small = try #require(try runner.run(["-c", "exit 0"]).peakMemory)
        let large = try #require(
            try runner.run(["-c", "head -c 40000000 /dev/zero | sort -z -S 60M >/dev/null"]).peakMemory
        )
        #expect(small < 8 << 20)
        #expect(large > 30 << 20)
    }

    @Test func `output goes to a file, and a program runs in its folder`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let file = folder.appending(path: "out")
        let result = try CommandRunner("pwd", folder: folder).run(output: .file(file))
        #expect(result.standardOutput.isEmpty)
        #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix(folder.lastPathComponent + "\n"))
    }
}
