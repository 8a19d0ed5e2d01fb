import InternetMessage
import Testing

@Suite struct EmailAddressTests {
    @Test(arguments: [
        ("Alice@Example.ORG", "alice@example.org"),
        ("alice@bücher.example", "ALICE@XN--BCHER-KVA.example"),
        ("alice@BÜCHER.example", "alice@xn--bcher-kva.example"),
        ("\"alice\"@example.org", "alice@example.org"),
        ("\"a b\"@example.org", "\"A\\ b\"@example.org"),
        ("grün@example.org", "GRÜN@example.org"),
        ("gru\u{308}n@example.org", "grün@example.org"),
        ("a@straße.example", "a@xn--strae-oqa.example"),
    ])
    func `equivalent addresses are equal`(one: String, other: String) throws {
        let (one, other) = try (EmailAddress(one), EmailAddress(other))
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.key == other.key)
    }

    @Test(arguments: [
        ("alice@example.org", "аlice@example.org"),
        ("alice@example.org", "alice@exаmple.org"),
        ("alice@example.org", "alice+tag@example.org"),
        ("alice@example.org", "alice@sub.example.org"),
        ("a@strasse.example", "a@straße.example"),
        ("i@example.org", "ı@example.org"),
    ])
    func `similar addresses differ`(one: String, other: String) throws {
        #expect(try EmailAddress(one) != EmailAddress(other))
    }

    @Test(arguments: [
        "", "@", "a@", "@b", "a", "a@b@c", "-a@b", "--from=x@y", "a b@c", "a@b c", "a\r\n@b", "a@b\nBcc: c@d",
        "a\u{0}@b",
        "a@b\u{0}", ".a@b", "a.@b", "a..b@c", "a@b..c", "a@.b", "a@b.", "a@-b", "<a@b>", "a@b,c@d", "\"a@b", "\"a\"b@c",
        "a\u{200B}@b", "a\u{202E}@b", "\u{212A}arl@b", "a@[", "a@[]", "a@[1]2]", "a@[b.example]", "a@b/c", "a@*.b;",
        "*@", "a@\u{FEFF}b",
    ])
    func `malformed addresses are refused`(text: String) {
        #expect(throws: MIMEError.self) { try EmailAddress(text) }
    }

    @Test(arguments: [
        "a/b@c", "a@localhost", "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]", "a!b%c@d", "o'neil@example.org", "x=y@z",
        "用户@例子.example",
    ])
    func `unusual addresses are accepted`(text: String) throws {
        #expect(try EmailAddress(text).text == text)
    }

    @Test func `over-long addresses are refused`() throws {
        let local = String(repeating: "a", count: 64)
        #expect(try EmailAddress("\(local)@b").localPart == local)
        #expect(throws: MIMEError.self) { try EmailAddress("a\(local)@b") }
        #expect(throws: MIMEError.self) { try EmailAddress("a@\(local)") }
        let domain = Array(repeating: String(repeating: "b", count: 60), count: 4).joined(separator: ".")
        #expect(try EmailAddress("a@\(domain)").asciiDomain == domain)
        #expect(throws: MIMEError.self) { try EmailAddress("a@\(domain).\(domain)") }
    }
}

@Suite struct AddressListTests {
    @Test(arguments: [
        ("a@b", ["a@b"]),
        ("Alice <a@b>, \"Bob, B.\" <c@d>", ["a@b", "c@d"]),
        ("a@b (Alice), c . d @ e (x(y)z)", ["a@b", "c.d@e"]),
        ("=?utf-8?Q?Caf=C3=A9?= <a@b>", ["a@b"]),
        ("\"a,b\"@c, <\"x>y\"@z>", ["\"a,b\"@c", "\"x>y\"@z"]),
        ("a@[192.0.2.1],,b@c", ["a@[192.0.2.1]", "b@c"]),
        ("John Q. Public <j@p>", ["j@p"]),
    ])
    func `mailboxes are found in order`(text: String, expected: [String]) throws {
        let list = try AddressList(text)
        #expect(list.addresses.map(\.text) == expected)
        #expect(list.defects.isEmpty)
    }

    @Test(arguments: [
        ("", AddressDefect.empty, 0), ("undisclosed-recipients:;", .group, 0), ("g: a@b, c@d;", .group, 2),
        ("<@x,@y:a@b>", .route, 1), ("aaa bbb", .malformed, 0), ("<aaa bbb>, c@d", .malformed, 1),
        ("<>", .malformed, 0),
        ("a@b\u{0}", .malformed, 0), ("<a@b", .malformed, 0), ("<a@b> <c@d>", .malformed, 0),
        ("x <a@b> y, c@d", .malformed, 1), ("<a@b> g: c@d;", .malformed, 1), ("a@b g: c@d;", .malformed, 1),
        ("a@b (x, c@d", .malformed, 1), ("a@b, \"x, c@d", .malformed, 1),
    ])
    func `a malformed address list is reported`(text: String, defect: AddressDefect, count: Int) throws {
        let list = try AddressList(text)
        #expect(list.defects.contains(defect))
        #expect(list.mailboxes.count == count)
    }

    @Test func `display names are decoded`() throws {
        let list = try AddressList("=?utf-8?Q?Caf=C3=A9?= Bar <a@b>, c@d (Dora), \"E \\\"x\\\" F\" <e@f>")
        #expect(list.mailboxes.map(\.displayName) == ["Café Bar", "Dora", "E \"x\" F"])
    }

    @Test(arguments: [
        ("\"ceo@bank.example\" <mallory@x.example>", true), ("ceo＠bank.example <m@x>", true),
        ("\"M (CEO@bank.example)\" <m@x>", true), ("\"M@X\" <m@x>", false),
        ("\"Work@Home GmbH\" <m@x>", false), ("\"ceo@bank(x).example\" <m@x>", true),
        ("\"ceo@bank (x) .example\" <m@x>", true), ("\"ceo@bank[.]example\" <m@x>", true),
        ("\"M Example/CORP/DE@CORP\" <m@x>", false),
        ("\"ceo@bank .example\" <m@x>", true), ("\"ceo@bank\u{3002}example\" <m@x>", true),
        ("\"M ceo@(y)bank.example\" <m@x>", true),
        ("Alice <a@b>", false),
        ("\"at @ home\" <a@b>", false),
    ])
    func `a display name that shows another address is detected`(text: String, poses: Bool) throws {
        #expect(try AddressList(text).mailboxes.first?.displayNamePosesAsAddress == poses)
    }

    @Test func `a hundred thousand addresses meet the limit at once`() {
        let text = String(repeating: "a@b.example,", count: 100_000)
        #expect(throws: MIMEError.limitExceeded(.addresses)) { try AddressList(text) }
    }

    @Test(arguments: ["(", "\"", "<", "[", ":", "@", ",", "\\", "a ", "((", "(\\"])
    func `floods of one token end`(token: String) throws {
        #expect(try AddressList(String(repeating: token, count: 200_000)).mailboxes.isEmpty)
    }

    @Test func `an address of an envelope may have a long local part`() throws {
        let local = String(repeating: "a", count: 300)
        let address = try EmailAddress(envelope: "SRS0=\(local)@Example.org")
        #expect(address.key == "srs0=\(local)@example.org" && address.text.hasSuffix("@Example.org"))
        #expect(try EmailAddress(envelope: "A@b") == EmailAddress("a@b"))
        for text in ["\(local) \(local)@b", "-\(local)@b", "\(local)@b..c", String(repeating: local, count: 4) + "@b"] {
            #expect(throws: MIMEError.self) { try EmailAddress(envelope: text) }
        }
    }
}
