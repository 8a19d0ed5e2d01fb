import ByteStreams
import InternetMessage
import SMIME
import Testing

/// Header fields that are copied inside, hidden outside, and restored (RFC 9788).
@Suite struct HeaderProtectionTests {
    private static let header = [
        "Received: from a by b for <secret@example.com>", "From: Alice Example <alice@example.com>",
        "To: \"Bob, B.\" <bob@example.com>,", " carol@example.com", "Bcc: secret@example.com",
        "Subject: the plan", "Keywords: secret, plan", "Date: Sat, 20 Feb 2021 20:09:02 -0500 (EST)",
        "X-Own: kept", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Comments: none",
    ]
    private static let text = (header + ["", "hello", ""]).joined(separator: "\r\n")

    private func split(_ text: String, _ protection: HeaderProtection) throws -> HeaderSplit {
        HeaderSplit(try HeaderBlock(parsing: Array(text.utf8)), protection: protection)
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
    }

    @Test func `a signed entity has the fields of the message, without trace fields and Bcc`() throws {
        let inner = lines(try split(Self.text, .clear).innerHeader)
        #expect(
            inner == Self.header[1...3] + Self.header[5...9]
                + ["Content-Type: text/plain; charset=utf-8;", " hp=\"clear\"", "Comments: none"]
        )
    }

    @Test func `an encrypted entity records the outer fields (HP-Outer)`() throws {
        let split = try split(Self.text, .cipher(.baseline))
        let inner = lines(split.innerHeader)
        #expect(inner.contains("Subject: the plan"))
        #expect(inner.contains(" hp=\"cipher\""))
        #expect(
            inner.filter { $0.hasPrefix("HP-Outer:") } == [
                "HP-Outer: From: Alice Example <alice@example.com>",
                "HP-Outer: To: \"Bob, B.\" <bob@example.com>,", "HP-Outer: Subject: [...]",
                "HP-Outer: Date: Sat, 20 Feb 2021 20:09:02 -0500 (EST)", "HP-Outer: X-Own: kept",
            ]
        )
        #expect(!inner.contains { $0.contains("secret@") })
        let outer = lines(split.outerHeader([NewField("Content-Type", value: "application/pkcs7-mime")]))
        #expect(outer.contains("Subject: [...]"))
        #expect(outer.contains("Bcc: secret@example.com"))
        #expect(!outer.contains { $0.hasPrefix("Keywords") || $0.hasPrefix("Comments") })
    }

    @Test func `the shy policy removes names and the time zone, but no address`() throws {
        let outer = lines(try split(Self.text, .cipher(.shy)).outerHeader([]))
        #expect(outer.contains("From: alice@example.com"))
        #expect(outer.contains("To: bob@example.com, carol@example.com"))
        #expect(outer.contains("Date: Sun, 21 Feb 2021 01:09:02 +0000"))
        #expect(outer.contains("Subject: [...]"))
        let odd = "From: nobody at all\r\nTo: us: a@example.com;\r\nDate: yesterday\r\n\r\n"
        #expect(
            lines(try split(odd, .cipher(.shy)).outerHeader([])).prefix(3)
                == odd.split(separator: "\r\n").map(String.init)[...]
        )
    }

    @Test func `in signed mail, header fields that transports change are rewritten or left unprotected and named`()
        throws
    {
        let text = "From: alice@example.com\r\nSubject: a \r\n b\r\nX-Name: Gr\u{FC}\u{DF}e\r\n\r\nx"
        let split = try split(text, .clear)
        #expect(split.unprotectedNames == ["X-Name"])
        #expect(lines(split.innerHeader).contains("Subject: a b"))
        #expect(try self.split(text, .cipher(.none)).unprotectedNames.isEmpty)
    }

    @Test(arguments: [
        "text/plain", "text/plain;", "text/plain ;charset=\"a;b\"", "text/plain; name=\"a\\\";\"\r\n ; x=y",
        "multipart/mixed;\r\n\tboundary=b (a; comment)",
    ])
    func `the header is restored byte for byte`(type: String) throws {
        for policy in HeaderConfidentiality.allCases {
            let text =
                "Received: x\r\nFrom: Alice <alice@example.com>\r\nSubject: a\r\nContent-Type: \(type)\r\nTo: b@example.com\r\n\r\n"
            let split = try split(text, .cipher(policy))
            let outer = try HeaderBlock(
                parsing: split.outerHeader([NewField("Content-Type", value: "application/pkcs7-mime")])
            )
            let inner = try #require(ProtectedHeader(of: HeaderBlock(parsing: split.innerHeader)))
            #expect(String(decoding: inner.restored(into: outer, keepingFrom: false), as: UTF8.self) == text)
        }
    }

    @Test(arguments: ["text", "text/plain; name=\"open", "text/plain; (open"])
    func `a Content-Type that cannot take a parameter protects no header`(type: String) throws {
        let split = try split("From: a@example.com\r\nContent-Type: \(type)\r\n\r\n", .cipher(.baseline))
        #expect(split.protection == nil)
        #expect(!String(decoding: split.innerHeader, as: UTF8.self).contains("From"))
    }

    @Test func `a message without Content-Type is marked and restored without one`() throws {
        let text = "From: a@example.com\r\nSubject: x\r\n\r\n"
        let split = try split(text, .cipher(.none))
        #expect(lines(split.innerHeader).contains("Content-Type: text/plain; hp=\"cipher\"; charset=us-ascii"))
        let outer = try HeaderBlock(
            parsing: split.outerHeader([NewField("Content-Type", value: "application/pkcs7-mime")])
        )
        let inner = try #require(ProtectedHeader(of: HeaderBlock(parsing: split.innerHeader)))
        #expect(String(decoding: inner.restored(into: outer, keepingFrom: false), as: UTF8.self) == text)
    }

    /// RFC 9788 Appendix C.3.1: the payload as it is printed there.
    @Test func `the example of RFC 9788 is read as described there`() throws {
        let fields = [
            "Subject: smime-signed-enc-hp-baseline", "Message-ID: <smime-signed-enc-hp-baseline@example>",
            "From: Alice <alice@smime.example>", "To: Bob <bob@smime.example>",
            "Date: Sat, 20 Feb 2021 10:09:02 -0500", "User-Agent: Sample MUA Version 1.0",
        ]
        let records = ["HP-Outer: Subject: [...]"] + fields.dropFirst().map { "HP-Outer: \($0)" }
        let payload =
            ["MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit"] + fields + records
            + ["Content-Type: text/plain; charset=\"utf-8\"; hp=\"cipher\"", "", ""]
        let outer =
            ["Received: from here", "Subject: [...]"] + fields.dropFirst() + [
                "MIME-Version: 1.0", "Content-Type: application/pkcs7-mime", "", "",
            ]
        let outerHeader = try HeaderBlock(parsing: Array(outer.joined(separator: "\r\n").utf8))
        let inner = try #require(
            ProtectedHeader(of: HeaderBlock(parsing: Array(payload.joined(separator: "\r\n").utf8)))
        )
        #expect(inner.scheme == .cipher)
        #expect(inner.hiddenNames(outer: outerHeader) == ["subject"])
        #expect(inner.differingNames(outer: outerHeader).isEmpty)
        #expect(inner.addedNames(outer: outerHeader).isEmpty)
        let restored = lines(inner.restored(into: outerHeader, keepingFrom: false))
        #expect(
            Set(restored)
                == Set(
                    [
                        "Received: from here", "MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit",
                        "Content-Type: text/plain; charset=\"utf-8\"",
                    ] + fields
                )
        )
    }

    @Test func `outer fields that were changed or added in transit are reported, and not restored`() throws {
        let split = try split(Self.text, .cipher(.baseline))
        var outer = String(
            decoding: split.outerHeader([NewField("Content-Type", value: "application/pkcs7-mime")]),
            as: UTF8.self
        )
        outer.replace("Subject: [...]", with: "Subject: [list] [...]")
        outer.replace("X-Own: kept", with: "Reply-To: eve@example.com\r\nKeywords: added\r\nList-Id: list")
        let header = try HeaderBlock(parsing: Array(outer.utf8))
        let inner = try #require(ProtectedHeader(of: HeaderBlock(parsing: split.innerHeader)))
        #expect(inner.differingNames(outer: header) == ["subject", "keywords", "x-own"])
        #expect(inner.addedNames(outer: header) == ["reply-to", "list-id"])
        let restored = lines(inner.restored(into: header, keepingFrom: false))
        #expect(restored.contains("Subject: the plan") && restored.contains("Keywords: secret, plan"))
        #expect(restored.contains("X-Own: kept") && restored.contains("List-Id: list"))
        #expect(!restored.contains { $0.contains("eve@") || $0.contains("[list]") || $0.contains("added") })
    }

    /// Outer fields in place of `Subject: [...]`, and whether they are reported as changed or as added.
    @Test(arguments: [
        (["Subject: [...]"], false, false), (["Subject: the plan"], false, false), (["Subject: pay"], true, false),
        (["Subject: the plan", "Subject: pay"], false, true), (["Subject: pay", "Subject: the plan"], false, true),
        (["Subject: [...]", "Subject: the plan"], false, true), (["Subject: [...]", "Subject: pay"], false, true),
    ])
    func `a second outer value of a protected field is reported`(
        fields: [String],
        isChanged: Bool,
        isAdded: Bool
    ) throws {
        let split = try split(Self.text, .cipher(.baseline))
        let outer = String(decoding: split.outerHeader([]), as: UTF8.self)
            .replacing("Subject: [...]", with: fields.joined(separator: "\r\n"))
        let header = try HeaderBlock(parsing: Array(outer.utf8))
        let inner = try #require(ProtectedHeader(of: HeaderBlock(parsing: split.innerHeader)))
        #expect(inner.differingNames(outer: header).contains("subject") == isChanged)
        #expect(inner.addedNames(outer: header).contains("subject") == isAdded)
    }

    @Test(arguments: [
        ("=?utf-8?q?mallory=40evil.test=2C?= <a@x.test>", "mallory@evil.test, <a@x.test>"),
        ("=?utf-8?q?Huber=2C_A?= <a@x.test>", "Huber, A <a@x.test>"), ("a@x.test", "=?utf-8?q?a=40x.test?="),
    ])
    func `addresses that are displayed alike are compared as addresses`(inside: String, outside: String) throws {
        let split = try split("From: a@x.test\r\nReply-To: \(inside)\r\n\r\nhello\r\n", .clear)
        let inner = try #require(ProtectedHeader(of: HeaderBlock(parsing: split.innerHeader)))
        for (value, isChanged) in [(inside, false), (outside, true)] {
            let outer = try HeaderBlock(parsing: Array("From: a@x.test\r\nReply-To: \(value)\r\n\r\n".utf8))
            #expect(inner.differingNames(outer: outer).contains("reply-to") == isChanged)
        }
    }

    @Test func `the outer From is kept if no valid signature covers the inner one`() throws {
        let inner = try #require(
            ProtectedHeader(of: HeaderBlock(parsing: split(Self.text, .cipher(.none)).innerHeader))
        )
        let outer = try HeaderBlock(parsing: Array("From: eve@example.com\r\nSubject: x\r\n\r\n".utf8))
        let restored = lines(inner.restored(into: outer, keepingFrom: true))
        #expect(restored.filter { $0.hasPrefix("From:") } == ["From: eve@example.com"])
        #expect(restored.contains("Subject: the plan"))
    }

    @Test func `a wrapped message does not replace From without a valid signature, and adds no trace fields`() throws {
        let message = "From: bob@example.com\r\nSubject: in\r\nReceived: forged\r\nX-SMIME-Decrypted: x\r\n\r\n"
        let outer = try HeaderBlock(parsing: Array("From: eve@example.com\r\nReceived: way\r\n\r\n".utf8))
        let inner = try #require(
            ProtectedHeader(
                wrapped: HeaderBlock(parsing: Array(message.utf8)),
                in: HeaderBlock(parsing: Array("Content-Type: message/rfc822; forwarded=no\r\n\r\n".utf8)),
                outer: outer
            )
        )
        #expect(
            lines(inner.restored(into: outer, keepingFrom: true)) == [
                "From: eve@example.com", "Received: way", "Subject: in",
            ]
        )
        #expect(lines(inner.restored(into: outer, keepingFrom: false)).contains("From: bob@example.com"))
    }
}
