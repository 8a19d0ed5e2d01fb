import Foundation
import TestSupport
import Testing

/// The filter with real mail servers, set up as described in docs/. `scripts/test --servers` runs these tests.
@Suite(.startsServer(.mail)) struct MailServerTests {
    /// SMIME_TEST_KILLED sets the number of mails that pass Postfix while the filter is repeatedly killed.
    @Test func `Postfix set up as in docs/filter loses nothing, doubles nothing, and sends nothing in clear`()
        async throws
    {
        let environment = ProcessInfo.processInfo.environment
        let killed = environment["SMIME_TEST_KILLED"].flatMap { Int($0) } ?? 60
        try await TestProgram("Tests/MailServers/postfix", seconds: 900 + 4 * killed).run("\(killed)")
    }

    /// EXIM_DEBS names a folder with Exim's packages; scripts/test fetches them.
    @Test func `Exim set up as in docs/filter-exim signs, encrypts, bounces, defers and verifies`() async throws {
        try await TestProgram("Tests/MailServers/exim", seconds: 600).run()
    }

    /// SMIME_TEST_KILLED sets the number of messages while processes are killed, SMIME_TEST_SOAK the number in the soak
    /// test.
    @Test(.serialized, arguments: ["delivery", "milter", "exim", "operations", "kills", "abuse", "soak"])
    func `The service behind Postfix signs, judges and refuses by LMTP, SMTP and milter, and bears kills and abuse`(
        part: String
    ) async throws {
        let environment = ProcessInfo.processInfo.environment
        let killed = environment["SMIME_TEST_KILLED"].flatMap { Int($0) } ?? 150
        let soak = environment["SMIME_TEST_SOAK"].flatMap { Int($0) } ?? 2000
        try await TestProgram("Tests/MailServers/serve", seconds: 1200 + 4 * killed + soak / 5).run(part)
    }

    /// The arguments are the set-ups of docs/postfix.md, docs/exim.md and docs/opensmtpd.md. OPENSMTPD_DEBS names a
    /// folder with OpenSMTPD's packages; scripts/test fetches them.
    @Test(.serialized, arguments: ["users", "exchange", "people", "exim", "opensmtpd"])
    func `The service set up by the listings of docs as they are printed signs, encrypts, returns and verifies`(
        page: String
    ) async throws {
        try await TestProgram("Tests/MailServers/pages", seconds: 600).run(page)
    }
}
