import SMIMEAgent
import SMIMEGateway
import Testing

/// The names by which a filter identifies itself.
@Suite struct MailHostTests {
    @Test(arguments: ["mx.example.com", "MX1", "gw_2.example.com", "xn--mnchen-3ya.test"])
    func `the gateway has its configured name`(_ text: String) throws {
        #expect(MailHost(name: try #require(HostName(text))).name == text)
    }

    @Test func `without a setting the gateway has the host's name`() {
        #expect(HostName(MailHost().name) == HostName())
    }
}
