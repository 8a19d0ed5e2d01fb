import ByteStreams
import SMIMEAgent
import SMIMEGateway
import Testing

/// The sender and the recipients of a mail that a program submits.
@Suite struct SubmittedMailTests {
    private func mail(
        _ header: String,
        to recipients: [String] = [],
        readsHeader: Bool = true,
        from sender: EnvelopeSender? = nil
    ) throws -> SubmittedMail {
        try SubmittedMail(
            MemorySource(Array("\(header)\n\ntext\n".utf8)),
            to: recipients,
            readsHeader: readsHeader,
            from: sender,
            named: nil,
            user: "login",
            AddressQualifier(domain: try #require(HostName("host.example.org")))
        )
    }

    private func text(_ mail: SubmittedMail) throws -> String {
        String(decoding: try mail.source.bytes(in: 0..<mail.source.count), as: UTF8.self)
    }

    private static let author = "From: alice@example.com\nTo: bob@example.com\n"

    @Test(arguments: [
        ("Resent-From: carol@example.com\nResent-To: dave@example.com\n", "carol@example.com"),
        (
            "Resent-Sender: erin@example.com\nResent-From: carol@example.com, x@example.com\nResent-To: dave@example.com\n",
            "erin@example.com"
        ),
        ("Resent-From: carol@example.com, x@example.com\nResent-To: dave@example.com\n", "login@host.example.org"),
        ("Resent-From: carol\nResent-To: dave@example.com\n", "carol@host.example.org"),
        ("Resent-To: dave@example.com\n", "login@host.example.org"),
    ])
    func `A person who resends a message is its sender, never the author`(resent: String, sender: String) throws {
        let found = try mail(resent + Self.author)
        #expect(found.sender.text == sender)
        #expect(found.recipients == ["dave@example.com"])
        #expect(try mail(resent + Self.author, from: EnvelopeSender("me@example.com")).sender.text == "me@example.com")
    }

    @Test(arguments: [
        "Alice <alice@example.com>", "alice@example.com (Alice)", "(Alice) alice@example.com", "alice@example.com ",
        "\t<alice@example.com>", "\"A, B\" <alice@example.com>",
    ])
    func `A sender with a name, a comment or blanks is the address that sendmail reads`(sender: String) throws {
        #expect(try mail(Self.author, from: EnvelopeSender(sender)).sender.text == "alice@example.com")
        #expect(EnvelopeSender(sender).addressForRules?.text == "alice@example.com")
    }

    @Test(arguments: [
        "a@example.com, b@example.com", "x<a@example.com", "a@example.com>", "<a@example.com> x", "a@example.com x",
        "g: a@example.com, b@example.com;", "example.com!alice", "alice%example.com",
    ])
    func `A sender that is not one address is refused`(sender: String) throws {
        #expect(throws: GatewayRefusal.self) { try mail(Self.author, from: EnvelopeSender(sender)) }
    }

    @Test func `A sender with a long local part is not changed`() throws {
        let sender = "bounces+\(String(repeating: "x", count: 80))=example.net@lists.example.com"
        #expect(try mail(Self.author, from: EnvelopeSender(sender)).sender.text == sender)
    }

    @Test func `Fields of an earlier resending count no more`() throws {
        let latest = "Resent-From: carol@example.com\nResent-To: dave@example.com\n"
        let earlier = "Resent-From: bob@example.com\nResent-To: old@example.com\nResent-Cc: older@example.com\n"
        let found = try mail(latest + earlier + Self.author)
        #expect(found.recipients == ["dave@example.com"])
        #expect(found.sender.text == "carol@example.com")
    }

    @Test(arguments: ["Return-Path: <x@evil.example>\n", "Received: from evil.example\n", "Subject: x\n"])
    func `Fields of the resent message count for nothing, even those that the resending has not`(between: String) throws
    {
        let latest = "Resent-From: carol@example.com\nResent-To: dave@example.com\n"
        let hostile =
            "Resent-Sender: nobody@evil.example\nResent-Cc: mallory@evil.example\nResent-Bcc: m@evil.example\n"
        let found = try mail(latest + between + hostile + Self.author)
        #expect(found.recipients == ["dave@example.com"])
        #expect(found.sender.text == "carol@example.com")
    }

    @Test func `A Resent-Sender that is not the one person of Resent-From chooses no rules`() throws {
        let resent = "Resent-From: carol@example.com\nResent-To: dave@example.com\n"
        let other = "Resent-Sender: nobody@evil.example\n"
        for sender in [other, "Resent-Sender: nobody\n", "Resent-Sender: a@evil.example, carol@example.com\n"] {
            #expect(throws: GatewayRefusal.self) { try mail(resent + sender + Self.author) }
        }
        let named = try mail(resent + other + Self.author, from: EnvelopeSender("me@example.com"))
        #expect(named.sender.text == "me@example.com")
        let same = try mail(resent + "Resent-Sender: Carol <Carol@Example.com>\n" + Self.author)
        #expect(same.sender.text == "carol@example.com")
        let alone = try mail("Resent-To: dave@example.com\n" + other + Self.author)
        #expect(alone.sender.text == "login@host.example.org")
    }

    @Test(arguments: [
        ("a@example.com,b@example.com", ["a@example.com", "b@example.com"]), ("a@example.com,", ["a@example.com"]),
        ("a@example.com (Eve, b@example.com", ["a@example.com (Eve, b@example.com"]),
        ("<a@example.com>", ["a@example.com"]), ("Eve <a@example.com>", ["a@example.com"]),
        ("a@example.com (Eve)", ["a@example.com"]), ("\"a,b\"@example.com", ["\"a,b\"@example.com"]),
        ("eve, fred", ["eve@host.example.org", "fred@host.example.org"]), ("a..b@example.com", ["a..b@example.com"]),
        ("eve,a..b@example.com", ["eve@host.example.org", "\"a..b\"@example.com"]),
        ("a b@example.com", ["a b@example.com"]), ("a@example.com,-oQ/tmp", ["a@example.com,-oQ/tmp"]),
        ("a@example.com,|sh", ["a@example.com,|sh"]), ("-Xlog", ["-Xlog"]), ("", [""]), (",", [","]),
    ])
    func `A recipient argument is an address list; any other text stays as it is`(_ text: String, _ found: [String])
        throws
    {
        #expect(try mail(Self.author, to: [text], readsHeader: false).recipients == found)
    }

    @Test func `A long local part in the header is a recipient like any other`() throws {
        let long = "SRS0=" + String(repeating: "a", count: 70) + "@example.com"
        #expect(
            try mail("To: bob@example.com, <\(long)>\nCc: eve").recipients == [
                "bob@example.com", long, "eve@host.example.org",
            ]
        )
        #expect(throws: GatewayRefusal.self) { try mail("To: bob@example.com, a b@example.com") }
    }

    @Test func `A resent message without a new recipient does not go to the old ones`() {
        #expect(throws: GatewayRefusal.self) { try mail("Resent-From: carol@example.com\n" + Self.author) }
    }

    @Test func `A resent message gets no new author`() throws {
        let found = try mail("Resent-From: carol@example.com\nResent-To: dave@example.com\nTo: bob@example.com")
        #expect(!(try text(found)).contains("\nFrom:"))
    }

    @Test func `Any other message is sent by its author, or else by the user`() throws {
        #expect(try mail(Self.author).sender.text == "alice@example.com")
        let found = try mail("To: bob@example.com")
        #expect(found.sender.text == "login@host.example.org")
        #expect(try text(found).hasPrefix("From: <login@host.example.org>\n"))
    }
}
