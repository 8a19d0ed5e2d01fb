import Foundation
import TestSupport
import Testing

/// The filter behind a third real mail server. OPENSMTPD_DEBS names a folder with its packages; scripts/test fetches them.
@Suite struct OpenSMTPDTests {
    @Test func `OpenSMTPD set up as docs/opensmtpd says runs no address as a command and signs for no other login`()
        throws
    {
        var runner = CommandRunner(Fixtures.root.appending(path: "Tests/MailServers/opensmtpd").path)
        runner.timeLimit = .seconds(900)
        let result = try runner.run([try Tool.smime().path, Fixtures.certs.path])
        if result.status == 77 {
            print("note: \(result.errorText.prefix(200)); the third mail server's test is skipped")
            return
        }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
