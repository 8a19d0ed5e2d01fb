import Foundation
import Testing

/// The filter behind a real mail server. SMIME_TEST_KILLED sets how many mails go through while it is being killed.
@Suite struct PostfixTests {
    @Test func `Postfix set up as docs/postfix says loses nothing, doubles nothing, and sends nothing in clear`() throws
    {
        let environment = ProcessInfo.processInfo.environment
        let killed = environment["SMIME_TEST_KILLED"].flatMap { Int($0) } ?? 60
        try TestProgram("Tests/MailServers/postfix", seconds: 900 + 4 * killed).run("\(killed)")
    }
}
