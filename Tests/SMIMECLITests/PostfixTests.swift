import Foundation
import TestSupport
import Testing

/// The filter behind a real mail server. SMIME_TEST_KILLED sets how many mails go through while it is being killed.
@Suite struct PostfixTests {
    @Test func `Postfix set up as docs/postfix says loses nothing, doubles nothing, and sends nothing in clear`() throws
    {
        let environment = ProcessInfo.processInfo.environment
        let killed = environment["SMIME_TEST_KILLED"].flatMap { Int($0) } ?? 60
        var runner = CommandRunner(Fixtures.root.appending(path: "Tests/MailServers/postfix").path)
        runner.timeLimit = .seconds(900 + 4 * killed)
        let result = try runner.run([try Tool.smime().path, Fixtures.certs.path, "\(killed)"])
        if result.status == 77 {
            print("note: \(result.errorText.prefix(200)); the mail server's test is skipped")
            return
        }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
