import Foundation
import TestSupport
import Testing

/// What root does for the user that a mail server's filter runs as.
@Suite struct ServiceUserTests {
    @Test func `root follows no link of the service user, in postinst and in the nightly copy`() throws {
        var runner = CommandRunner(Fixtures.root.appending(path: "Tests/Packaging/service-user").path)
        runner.timeLimit = .seconds(600)
        let result = try runner.run([try Tool.smime().path, Fixtures.certs.path])
        if result.status == 77 {
            print("note: \(result.errorText.prefix(200)); the service user's test is skipped")
            return
        }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
