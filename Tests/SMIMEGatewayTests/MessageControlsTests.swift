import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Testing

@Suite struct MessageControlsTests {
    private func read(_ message: String, _ tags: SubjectTags = .standard) throws -> (
        request: ProtectionRequest, text: String
    ) {
        let controls = try MessageControls(of: MemorySource(Array(message.utf8)), tags: tags)
        let bytes = try controls.source.bytes(in: 0..<controls.source.count)
        return (controls.request, String(decoding: bytes, as: UTF8.self))
    }

    private func subject(_ text: String, _ tags: SubjectTags = .standard) throws -> (
        request: ProtectionRequest, shown: String?
    ) {
        let (request, message) = try read("Subject: \(text)\r\nTo: bob@x.test\r\n\r\nbody\r\n", tags)
        let header = try HeaderBlock(parsing: Array(message.utf8))
        #expect(header.fields.map(\.name) == ["Subject", "To"])
        #expect(message.hasSuffix("To: bob@x.test\r\n\r\nbody\r\n"))
        return (request, header.first("Subject")?.displayValue)
    }

    @Test(arguments: [
        ("[encrypt] Hi", "Hi"), ("Hi [ENCRYPT]", "Hi"), ("Re: [ encrypt\t] Hi", "Re: Hi"), ("[encrypt]", ""),
        ("[[encrypt]]", "[]"), ("=?utf-8?B?W2VuY3J5cHRdIEdyw7zDn2U=?=", "Grüße"), ("=?utf-8?Q?[encrypt]?=", ""),
        ("=?utf-8?Q?[enc?= =?utf-8?Q?rypt]_x?=", "x"), ("[encrypt] Grüße", "Grüße"),
        ("[encrypt] =?x-none?Q?a?=", "=?x-none?Q?a?="), ("[encrypt]\r\n folded", "folded"),
        ("[encrypt]\u{301} Hi", "\u{301} Hi"),
        ("=?utf-8?Q?[encrypt]_=3D=3Fx=3F=3D?=", "=?x?="),
        ("=?utf-8?Q?[encrypt]_a=0D=0ABcc:_eve@x.test?=", "a\r\nBcc: eve@x.test"),
    ])
    func `a subject tag is read and removed in every spelling`(text: String, shown: String) throws {
        let found = try subject(text)
        #expect(found.request == ProtectionRequest(encrypt: .require))
        #expect(found.shown == shown)
    }

    @Test(arguments: ["Bcc: a@x.test", "X-SMIME: sign=never"], ["From foo bar", "\u{FEFF}From: eve@x.test"])
    func `text does not become header when the first field is removed`(field: String, line: String) throws {
        let rest = "To: bob@x.test\r\nBcc: hidden@x.test\r\nX-SMIME: encrypt=require\r\n\r\nbody\r\n"
        #expect(throws: MessageError.defective(.hiddenFields)) { try read("\(field)\r\n\(line)\r\n\(rest)") }
    }

    @Test(arguments: ["Hi", "[encrypted] x", "[encrypt x", "encrypt]", "[]", "=?utf-8?Q?=5Bother=5D?=", "[\u{212A}ey]"])
    func `subject text that is no tag is kept`(_ text: String) throws {
        let message = "Subject: \(text)\r\n\r\nbody"
        let found = try read(message)
        #expect(found.request == ProtectionRequest())
        #expect(found.text == message)
    }

    @Test func `a long subject is written in encoded words of 75 characters`() throws {
        let long = String(repeating: "äöü€😀 ", count: 60)
        let encoded = "=?utf-8?B?W2VuY3J5cHRd?= \(long)"
        let found = try subject(encoded)
        #expect(found.request.encrypt == .require)
        #expect(found.shown == long.trimmingSuffix(" "))
    }

    @Test(
        .timeLimit(.minutes(15)),
        arguments: ["[", "[sign] a ", "=?utf-8?Q?[sign]?= ", "[sign]", "=?", "[ ", "a[sign]b"]
    )
    func `a long subject full of tags is read, and one beyond the limit is refused`(_ piece: String) throws {
        let message = "Subject: " + String(repeating: piece, count: 60_000 / piece.utf8.count) + "\r\n\r\nbody"
        #expect(try read(message).text.hasSuffix("\r\n\r\nbody"))
        #expect(throws: MessageError.self) {
            try read("Subject: " + String(repeating: piece, count: 70_000 / piece.utf8.count) + "\r\n\r\n")
        }
    }

    @Test func `subject tags follow the setting`() throws {
        let tags = try #require(SubjectTags(parsing: "[open] encrypt=never; sign=never [Top Secret] encrypt"))
        #expect(try subject("[OPEN] x", tags).request == ProtectionRequest(sign: .never, encrypt: .never))
        #expect(try subject("[top secret] x", tags).request == ProtectionRequest(encrypt: .require))
        #expect(try subject("[encrypt] x", tags).request == ProtectionRequest())
        #expect(try subject("[encrypt] x", try #require(SubjectTags(parsing: ""))).request == ProtectionRequest())
        #expect(SubjectTags(parsing: "\(tags)") == tags)
        for text in ["encrypt", "[a]", "[a] b", "[] encrypt", "[a encrypt", "x [a] encrypt", "[a]] encrypt"] {
            #expect(SubjectTags(parsing: text) == nil, "\(text)")
        }
    }

    @Test func `all X-SMIME fields are removed, and their requests are combined`() throws {
        let found = try read(
            "x-smime: encrypt=never\r\nFrom: a@x.test\r\nX-SMIME:\r\n\tencrypt=require;\r\n sign=no\r\nX-SMIME :\r\nBcc: b@x.test\r\n\r\nX-SMIME: body\r\n"
        )
        #expect(found.request == ProtectionRequest(sign: .never, encrypt: .require))
        #expect(found.text == "From: a@x.test\r\n\r\nX-SMIME: body\r\n")
        let other = "X-SMIME-Result: x\r\nX-SMIMEE: encrypt\r\n\r\nbody"
        #expect(try read(other).text == other)
        #expect(try read("X-SMIME: encrypt").text == "")
    }

    @Test(arguments: [
        "Subject: a\r\nJUNK\r\nX-SMIME: encrypt=require", "JUNK\r\nSubject: [encrypt] a",
        "JUNK\r\nSubject: =?utf-8?q?=5Bencrypt=5D?= a", "Subject: a\r\nJUNK\r\nMORE\r\nx-smime : encrypt",
        "Subject: a\rX-SMIME: encrypt=require", "Subject: a\r\nJUNK\r\nSubject: b\r\n [sign]", ": x\r\nBcc: b@x.test",
        "Subject: a\u{0B}X-SMIME: encrypt=require", "Subject: a\u{85}Bcc: b@x.test",
        "Subject: a\r\n\nX-SMIME: encrypt=require", "Subject: hello\rfoo [encrypt]\r\nJUNK\r\nX-SMIME: encrypt",
    ])
    func `a request that only some programs find is not passed over`(fields: String) throws {
        #expect(throws: MessageError.defective(.hiddenFields)) { try read("From: a@x.test\r\n\(fields)\r\n\r\nbody") }
    }

    @Test(arguments: [
        "Subject: a\r\nJUNK\r\n\r\nX-SMIME: encrypt=require", "JUNK\r\nSubject: a [list]",
        "X-SMIME: encrypt\r\nJUNK\r\nDate: now", "Subject: [encrypt] a\r\nJUNK: b\rTo: c",
        "Subject: x\rfoo\r\n\r\nFrom: c@x.test\r\nBcc: b@x.test", "Subject: \u{E9}\u{E8} x\r\nX-SMIME: encrypt",
        "X-SMIME: encrypt\r\n\r\nX-SMIME: sign", "Subject: [encrypt] wait\u{85} what",
    ])
    func `a header that is read in different ways, without a hidden request, is read`(fields: String) throws {
        _ = try read("From: a@x.test\r\n\(fields)\r\n\r\nbody")
    }

    /// RFC 5322 §3.6.6
    @Test func `only the recipients of the latest resending are visible`() throws {
        func visible(_ fields: String) throws -> Set<String> {
            let source = MemorySource(Array("\(fields)From: a@x.test\r\nTo: b@x.test, d@x.test\r\n\r\nbody".utf8))
            let controls = try MessageControls(of: source, tags: .standard)
            return Set(try controls.visibleRecipients().map(\.text))
        }
        #expect(try visible("Cc: e@x.test\r\n") == ["b@x.test", "d@x.test", "e@x.test"])
        let latest = "Resent-From: a@x.test\r\nResent-To: b@x.test\r\nResent-Bcc: d@x.test\r\n"
        #expect(try visible(latest) == ["b@x.test"])
        #expect(try visible(latest + "Resent-From: c@x.test\r\nResent-To: d@x.test\r\n") == ["b@x.test"])
        #expect(try visible("Resent-From: a@x.test\r\nResent-Bcc: d@x.test\r\n").isEmpty)
        // Removing the Bcc field must not join two resendings.
        #expect(try visible(latest + "Bcc: e@x.test\r\nResent-Cc: d@x.test\r\n") == ["b@x.test"])
    }

    @Test func `what the author of a resent message requested does not lower its protection`() throws {
        func request(_ fields: String) throws -> ProtectionRequest {
            let source = MemorySource(Array("\(fields)X-SMIME: encrypt=never; sign=require\r\n\r\nbody".utf8))
            return try MessageControls(of: source, tags: .standard).senderRequest
        }
        #expect(try request("") == ProtectionRequest(sign: .require, encrypt: .never))
        #expect(try request("Resent-From: a@x.test\r\n") == ProtectionRequest(sign: .require))
        #expect(try request("Resent-Bcc: a@x.test\r\n") == ProtectionRequest(sign: .require))
    }

    /// A typing error must not cause mail to be sent in clear that the sender wanted to protect.
    @Test(arguments: [
        "encrypt require", "sign+encrypt", "encryption=require", "(x) encrypt=require", "yes",
        "=?utf-8?q?encrypt=3Drequire?=",
    ])
    func `an unreadable X-SMIME field requires signing and encryption`(_ body: String) throws {
        #expect(
            try read("X-SMIME: \(body)\r\n\r\nbody").request == ProtectionRequest(sign: .require, encrypt: .require)
        )
    }

    @Test(arguments: [
        "=?x-none?B?W2VuY3J5cHRdIP8=?=", "=?utf-8?B?W2VuY3J5cHRdIMM=?= =?utf-8?B?pA==?=", "[enc=?x-none?Q?rypt]?=",
        "\u{FF3B}encrypt\u{FF3D} hi", "[encrypt\u{200B}] hi", "=?utf-8?b?W2VuY3J5cHRdIGhp=?=",
    ])
    func `a tag in an undecodable subject is detected`(_ text: String) {
        let reason = "the subject has a tag that cannot be removed, because of its characters or its encoding"
        #expect(throws: MessageError.malformed(reason)) {
            try read("Subject: \(text)\r\n\r\nbody")
        }
    }

    @Test func `a message with a replaced header is read from any offset`() throws {
        let message = "X-SMIME: x\nSubject: [sign] y\n\n" + String(repeating: "0123456789\n", count: 300)
        let controls = try MessageControls(of: MemorySource(Array(message.utf8)), tags: .standard)
        let whole = try controls.source.bytes(in: 0..<controls.source.count)
        for start in [0, 1, 10, 11, 12, 500, whole.count - 1, whole.count] {
            #expect(try controls.source.bytes(in: start..<whole.count) == Array(whole[start...]))
        }
        #expect(whole.count == message.utf8.count - "X-SMIME: x\n[sign] ".utf8.count)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
