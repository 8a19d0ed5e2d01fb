import ByteStreams
import Foundation
import InternetMessage
import SMIME
import Testing

/// Hidden fields repeated in the text, for programs that do not read the inner header (RFC 9788 §5.2.2, §4.5.3).
@Suite struct LegacyDisplayTests {
    private static let bodies: [(type: String, encoding: String, body: String)] = [
        ("text/plain; charset=utf-8", "7bit", "hello\n\nyou\n"),
        ("text/plain", "7bit", "hello\n"),
        ("text/plain; charset=iso-8859-2", "quoted-printable", "h=E9llo\n"),
        ("text/plain; charset=utf-8", "base64", "aGVsbG8NCg==\n"),
        ("text/html; charset=utf-8", "7bit", "<html><BODY a=b>\n<p>hello</p></BODY></html>\n"),
        ("text/html", "7bit", "<p>hello</p>\n"),
        (
            "multipart/alternative; boundary=b", "7bit",
            "--b\n\nhello\n--b\nContent-Type: text/html\n\n<body><p>hello</p>\n--b--\n"
        ),
        (
            "multipart/mixed; boundary=b", "7bit",
            "--b\n\nhello\n--b\nContent-Type: text/plain\n\nanother\n--b--\n"
        ),
    ]

    private func read(_ text: String) throws -> (Entity, MemorySource) {
        let source = MemorySource(Array(text.utf8))
        return (try MIMEReader.message(in: source), source)
    }

    private func text(_ source: any ByteSource) throws -> String {
        String(decoding: try source.bytes(in: 0..<source.count), as: UTF8.self)
    }

    @Test(arguments: bodies.indices, ["\n", "\r\n"])
    func `a legacy display part is inserted, marked and removed again`(index: Int, lineEnd: String) throws {
        let (type, encoding, body) = Self.bodies[index]
        let mail =
            "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nMIME-Version: 1.0\nContent-Type: \(type)\nContent-Transfer-Encoding: \(encoding)\n\n\(body)"
            .replacing("\n", with: lineEnd)
        let (message, source) = try read(mail)
        let fields = message.header.all("Subject")
        let shown = try #require(try LegacyDisplay.adding(fields, to: message, in: source))
        let added = try text(shown)
        #expect(added.contains("hp-legacy-display=\"1\""))
        #expect(added.components(separatedBy: "hp-legacy-display").count - 1 == (type.contains("alternative") ? 2 : 1))
        if type == "text/html" { #expect(added.contains("<pre>Subject: Gr&#252;&#223;e</pre>")) }
        let back = try #require(try LegacyDisplay.removing(from: MIMEReader.message(in: shown), in: shown))
        let removed = try MIMEReader.message(in: back)
        #expect(!(try text(back)).contains("hp-legacy-display"))
        #expect(try content(removed, back) == content(message, source))
        #expect(try LegacyDisplay.adding([], to: message, in: source) == nil)
    }

    @Test func `a text that is too long with CRLF line ends is left unchanged`() throws {
        let text = String(repeating: "a\n", count: 8 * 1024 * 1024 - 100)
        let type = "Content-Type: text/plain; hp-legacy-display=1\nContent-Transfer-Encoding: quoted-printable\n\n"
        let (entity, source) = try read(type + text)
        #expect(try LegacyDisplay.removing(from: entity, in: source) == nil)
    }

    /// RFC 9788 Appendix E.1 and E.2.
    @Test func `the legacy display part of the examples in RFC 9788 is removed`() throws {
        let subject = "Subject: Dinner plans\n"
        let plain =
            "\(subject)Content-Type: text/plain; charset=\"us-ascii\"; hp-legacy-display=\"1\";\n hp=\"cipher\"\n\n\(subject)\nLet's meet\n"
        let (entity, source) = try read(plain)
        let removed = try #require(try LegacyDisplay.removing(from: entity, in: source))
        #expect(
            try text(removed)
                == "\(subject)Content-Type: text/plain; charset=\"us-ascii\";\n hp=\"cipher\"\n\nLet's meet\n"
        )
        let html =
            "\(subject)Content-Type: text/html; hp-legacy-display=\"1\"; hp=\"cipher\"\n\n<html><body>\n<div class=\"header-protection-legacy-display\">\n<pre>Subject: Dinner plans</pre>\n</div>\n<p>\nLet's meet</p></body></html>\n"
        let (page, pageSource) = try read(html)
        let rest = try #require(try LegacyDisplay.removing(from: page, in: pageSource))
        #expect(
            try text(rest)
                == "\(subject)Content-Type: text/html; hp=\"cipher\"\n\n<html><body>\n<p>\nLet's meet</p></body></html>\n"
        )
    }

    private static let division = "<div class=\"header-protection-legacy-display\">"

    /// Texts with the mark that must stay unchanged, because they are not only copies of fields.
    @Test(arguments: [
        ("plain", "First paragraph that matters.\n\nSecond.\n"),
        ("plain", "Subject: x\nI owe you 1000.\n\nI owe you 10.\n"),
        ("plain", "Subject: y\n\nhello\n"),
        ("plain", "To: bob@example.com\n\nhello\n"),
        ("plain", "\nhello\n"),
        ("html", "<!-- \(division) --><b>Pay 1000</b><!-- </div> --><p>hello</p>"),
        ("html", "<p>Pay 1000</p>\(division)<pre>Subject: x</pre></div><p>hello</p>"),
        ("html", "\(division)<pre>Subject: x</pre><img src=\"cid:1\"></div><p>hello</p>"),
        ("html", "\(division)<div>Subject: x</div><p>Pay 1000</p></div>"),
        ("html", "\(division)<pre>Pay: 1000</pre></div><p>hello</p>"),
        ("html", "<a title='\(division)<pre>Subject: x</pre></div>'>hello</a>"),
    ])
    func `marked text that is no copy of the header is never removed`(type: String, body: String) throws {
        let header = "Subject: x\nContent-Type: text/\(type); hp=\"cipher\"; hp-legacy-display=\"1\"\n\n"
        let (message, source) = try read(header + body)
        #expect(try LegacyDisplay.removing(from: message, in: source) == nil)
    }

    @Test func `nothing changes below a signature of another kind`() throws {
        let signed =
            "Content-Type: multipart/signed; protocol=\"application/pgp-signature\"; boundary=s\n\n--s\nContent-Type: text/plain; hp-legacy-display=1\n\nSubject: x\n\nhello\n--s\nContent-Type: application/pgp-signature\n\nx\n--s--\n"
        let (message, source) = try read("Subject: x\n" + signed)
        #expect(try LegacyDisplay.removing(from: message, in: source) == nil)
        #expect(try LegacyDisplay.adding(message.header.all("Subject"), to: message, in: source) == nil)
    }

    @Test func `copies may be folded, and encoded words decoded`() throws {
        let copies = "subject:  Gr\u{FC}\u{DF}e\n an  alle\nFrom: Alice <alice@example.com>\n"
        let header =
            "From: Alice\n <alice@example.com>\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= an alle\nContent-Type: text/plain; charset=utf-8; hp-legacy-display=1\n\n"
        let (message, source) = try read(header + copies + "\nhello\n")
        let removed = try #require(try LegacyDisplay.removing(from: message, in: source))
        #expect(try text(removed).hasSuffix("charset=utf-8\n\nhello\n"))
    }

    @Test func `attachments and unmarked text stay unchanged`() throws {
        let (attachment, source) = try read("Subject: x\nContent-Disposition: attachment\n\nSubject: x\n\nhello\n")
        #expect(try LegacyDisplay.adding(attachment.header.all("Subject"), to: attachment, in: source) == nil)
        #expect(try LegacyDisplay.removing(from: attachment, in: source) == nil)
    }

    @Test(arguments: ["text", "text/plain; name=\"open", "text/plain; (open", "garbage"])
    func `a part with a Content-Type that cannot be parsed gets no legacy display text`(type: String) throws {
        let part = "Content-Type: \(type)\n\nhello\n"
        let whole = "Subject: x\n\(part)"
        let multipart = "Subject: x\nContent-Type: multipart/mixed; boundary=A\n\n--A\n\(part)--A--\n"
        for mail in [whole, multipart] {
            let (message, source) = try read(mail)
            #expect(try LegacyDisplay.adding(message.header.all("Subject"), to: message, in: source) == nil)
        }
    }

    @Test(arguments: [
        "--A\nContent-Type: multipart/mixed; boundary=B\n\n--B\n--A\n\nanother\n--A--\n",
        "--A\n--A\n\nanother\n--A--\n",
        "--A\nContent-Type: multipart/alternative; boundary=B\n\n--B\nContent-Type: text/html\n\nhello\n--B\n--A--\n",
    ])
    func `an empty part gets no legacy display text, and the parts stay unchanged`(body: String) throws {
        let (message, source) = try read("Subject: x\nContent-Type: multipart/mixed; boundary=A\n\n\(body)")
        let fields = message.header.all("Subject")
        let shown = try LegacyDisplay.adding(fields, to: message, in: source)
        #expect((shown != nil) == body.contains("hello"))
        guard let shown else { return }
        #expect(try MIMEReader.message(in: shown).shape == message.shape)
        #expect(try text(shown).components(separatedBy: "hp-legacy-display=").count == 2)
    }

    private func content(_ entity: Entity, _ source: any ByteSource) throws -> [[UInt8]] {
        guard entity.children.isEmpty else { return try entity.children.flatMap { try content($0, source) } }
        return [
            try entity.decodedBody(of: source).lines(endingIn: .crlf).makeReader()
                .readAll(limit: .max, orThrow: CancellationError())
        ]
    }
}

extension Entity {
    /// The types of the parts; a message with a non-ASCII header becomes message/global.
    fileprivate var shape: String {
        "\(contentType.isMessage ? "message" : contentType.name)(\(children.map(\.shape).joined(separator: " ")))"
    }
}
