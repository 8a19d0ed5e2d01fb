import Foundation
import TestSupport
import Testing

/// A filter ends with a temporary failure before the mail server's time limit; otherwise the server would return the mail.
@Suite struct FilterTimeLimitTests {
    private static let deliver = ["--sendmail", "/bin/true", "--queue-id", "4ABC"]

    @Test(arguments: [["--stdout"], deliver])
    func `the time limit ends the filter`(_ transport: [String]) throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        var tracer = CommandRunner("strace")
        tracer.environment["SMIME_HOME"] = folder.appending(path: "home").path
        guard (try? tracer.run(["-qq", "-o", "/dev/null", "-e", "trace=alarm", "true"]).status) == 0 else {
            print("note: skipped, strace is missing, or may not trace")
            return
        }
        // strace makes the call that sets the alarm raise the signal immediately.
        let trace = folder.appending(path: "trace")
        let tracing = ["-f", "-qq", "-o", trace.path, "-e", "trace=alarm", "-e", "inject=alarm:signal=ALRM"]
        let filter = [try Tool.smime().path, "filter", "outgoing", "--log", "none"] + transport
        let envelope = ["--sender", "a@example.com", "--", "b@example.com"]
        let result = try tracer.run(tracing + filter + envelope, input: .bytes(Array("\r\nhello\r\n".utf8)))
        #expect(result.status == 75, "\(result.errorText)")
        let calls = try String(contentsOf: trace, encoding: .utf8)
        #expect(calls.contains("alarm(540)"), "\(calls)")
    }
}
