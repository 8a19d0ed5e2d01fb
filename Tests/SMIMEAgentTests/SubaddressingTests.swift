import InternetMessage
import SMIMEAgent
import Testing

@Suite struct SubaddressingTests {
    /// Mail servers split addresses at bytes, so a mark or letter that forms one character with a delimiter changes nothing.
    @Test(arguments: ["nocert+x", "nocert+\u{301}x", "nocert+x\u{D4E}", "nocert+\u{D4E}"])
    func `a detail is recognized whatever characters are in it`(local: String) throws {
        let address = try EmailAddress(envelope: "\(local)@bank.example")
        let base = try EmailAddress("nocert@bank.example")
        #expect(Subaddressing.standard.base(of: address) == base)
        #expect(Subaddressing.standard.implied(by: address).contains(base))
    }

    @Test(arguments: ["\"bob+\u{301}x\"", "\"a\\\"\u{301}b+x\""])
    func `a quoted local part is read whatever characters are in it`(local: String) throws {
        let address = try EmailAddress(envelope: "\(local)@bank.example")
        let base = try #require(Subaddressing.standard.base(of: address))
        #expect(base.asciiDomain == "bank.example")
        #expect(!base.key.contains("+"))
    }

    @Test(arguments: ["bob\u{D4E}%bank.example", "bank.example!\u{301}bob", "bob%bank.example", "bank.example!bob"])
    func `a routed address names its domain whatever characters are in it`(local: String) throws {
        let address = try EmailAddress(envelope: "\(local)@relay.example")
        let domains = Subaddressing.standard.implied(by: address).map(\.asciiDomain)
        #expect(domains == ["bank.example"])
    }
}
