import Foundation
import TestSupport
import Testing

/// The filter behind another real mail server. EXIM_DEBS names a folder with its packages; scripts/test fetches them.
@Suite struct EximTests {
    @Test func `Exim set up as docs/exim says signs, encrypts, bounces, waits and judges`() throws {
        var runner = CommandRunner(Fixtures.root.appending(path: "Tests/MailServers/exim").path)
        runner.timeLimit = .seconds(600)
        let result = try runner.run([try Tool.smime().path, Fixtures.certs.path])
        if result.status == 77 {
            print("note: \(result.errorText.prefix(200)); the other mail server's test is skipped")
            return
        }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
