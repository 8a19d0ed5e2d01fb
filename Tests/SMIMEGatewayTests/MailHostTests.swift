import SMIMEAgent
import SMIMEGateway
import Testing

/// Who a filter says it is.
@Suite struct MailHostTests {
    @Test(arguments: ["mx.example.com", "MX1", "gw_2.example.com", "xn--mnchen-3ya.test"])
    func `A gateway is called what it is named`(_ text: String) throws {
        #expect(MailHost(name: try #require(HostName(text))).name == text)
    }

    @Test func `without a setting the host's own name is used`() { #expect(HostName(MailHost().name) == HostName()) }
}
