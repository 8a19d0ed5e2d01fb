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

    @Test func `a delimiter that forms one letter with a mark is recognized`() throws {
        let subaddressing = try #require(Subaddressing(parsing: "+="))
        let address = try EmailAddress(envelope: "nocert=\u{338}x@bank.example")
        #expect(subaddressing.base(of: address) == (try EmailAddress("nocert@bank.example")))
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

    /// Postfix delivers each of these to x@bank.example if relay.example is its own domain.
    @Test(arguments: [
        "\"x@bank.example \"", "\"x%bank.example \"", "\"x% bank.example\"", "\"x@ bank.example\"",
        "\"x@bank .example\"", "\"x@bank. example\"", "\"bank.example !x\"", "\" bank.example!x\"",
        "\"x@bank.example\\\\\"", "\"x@\\\\bank.example\"", "\"x@\\\"bank.example\\\"\"",
        "x%bank.example%", "!bank.example!x", "\"x%bank.example.\"", "\"x@bank.example(c)\"", "\"x@bank(c).example\"",
        "\"x@(c)bank.example\"", "\"<x@bank.example>\"", "\"@relay.example:x@bank.example\"", "\"x@[bank.example]\"",
        "x%bank\u{3002}example", "x%\u{FF22}ANK.example",
        "x%bank.example" + String(repeating: "%relay.example", count: 20),
        String(repeating: "relay.example!", count: 20) + "bank.example!x",
    ])
    func `a local part that servers route in any form names the recipient`(local: String) throws {
        let implied = Subaddressing.standard.implied(by: try EmailAddress(envelope: "\(local)@relay.example"))
        #expect(implied.contains(try EmailAddress("x@bank.example")))
    }

    @Test(.timeLimit(.minutes(15))) func `long local parts are read in a short time`() throws {
        for text in ["a%", "%", "!", "(", "@a"] {
            let local = String(repeating: text, count: 1_000 / text.count)
            let address = try EmailAddress(envelope: "\"\(local)\"@relay.example")
            #expect(Subaddressing.standard.implied(by: address).count < 3)
        }
        let many = (0..<200).map { "a\($0)%" }.joined()
        let address = try EmailAddress(envelope: "\(many)bank.example@relay.example")
        #expect(Subaddressing.standard.implied(by: address).contains(try EmailAddress("a199@bank.example")))
    }
}
