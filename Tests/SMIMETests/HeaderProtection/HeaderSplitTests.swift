import ByteStreams
import Foundation
import InternetMessage
import SMIME
import TestSupport
import Testing

@Suite struct HeaderSplitTests {
    private static let enveloped = [
        NewField(
            "Content-Type",
            value: "application/pkcs7-mime",
            parameters: [.init("smime-type", value: "enveloped-data")]
        ),
        NewField("Content-Transfer-Encoding", value: "base64"),
        NewField("Content-Disposition", value: "attachment", parameters: [.init("filename", value: "smime.p7m")]),
    ]
    private static let signed = [
        NewField("Content-Type", value: "multipart/signed", parameters: [.init("boundary", value: "x")])
    ]

    /// The message after its entity was moved into an outer message and back.
    private func roundTrip(_ bytes: [UInt8], _ newFields: [NewField]) throws -> [UInt8] {
        let source = MemorySource(bytes)
        let message = try MIMEReader.message(in: source)
        let split = HeaderSplit(message.header)
        let outer = try HeaderBlock(parsing: split.outerHeader(newFields))
        #expect(outer.first("MIME-Version") != nil)
        #expect(outer.fields.filter { $0.isNamed("Content-Type") }.count == 1)
        let canonical = MemorySource(try split.canonicalEntity(of: message, in: source).all())
        let inner = try MIMEReader.message(in: canonical)
        let body = try inner.stream(of: canonical, range: inner.bodyRange, lineEnd: outer.lineEnd).all()
        return HeaderSplit.join(outer: outer, inner: inner.header) + body
    }

    @Test func `content fields are moved in, all others stay outside`() throws {
        let text =
            "From: a@b\nMIME-Version: 1.0\nContent-Type: text/plain\nContent-Language: de\nX: y\n folded\n\nbody\n"
        let split = HeaderSplit(try HeaderBlock(parsing: text.bytes))
        #expect(split.innerHeader.text == "Content-Type: text/plain\nContent-Language: de\n\n")
        let expected = """
            From: a@b
            MIME-Version: 1.0
            Content-Transfer-Encoding: base64
            Content-Disposition: attachment; filename=smime.p7m
            Content-Type: application/pkcs7-mime; smime-type=enveloped-data
            X: y
             folded


            """
        #expect(split.outerHeader(Self.enveloped).text == expected)
    }

    @Test func `a message without content fields has an inner header that is an empty line`() throws {
        let split = HeaderSplit(try HeaderBlock(parsing: "From: a@b\r\n\r\nbody".bytes))
        #expect(split.innerHeader == "\r\n".bytes)
        #expect(
            split.outerHeader(Self.signed).text
                == "From: a@b\nMIME-Version: 1.0 (S/MIME)\nContent-Type: multipart/signed; boundary=\"x\"\n\n".crlf.text
        )
    }

    @Test(arguments: [
        "F: x\nMIME-Version: 1.0\nContent-Type: a/b\n\nbody\n", "F: x\n\nbody\n", "\nbody\n", "F: x\n",
        "Content-Type: a/b\n\n",
        "Content-Type: a/b\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\nF: x\n\nbody\n",
        "Content-ID: <x>\nF: x\nContent-Type: a/b\nG: x\nContent-Length: 5\nContent-Foo: x\n\nbody\n",
        "F: x\nContent-Transfer-Encoding: 7bit\nMime-Version: 1.0 (by me)\nContent-Disposition: inline\nF: x\n\nbody",
        "From - x\nMIME-version: 1.0\nF: x\n\nbody\n", "\u{FEFF}F: x\nContent-Type: a/b\n\nbody\n",
        "Content-Foo: 1\nContent-Foo: 2\nF: x\nContent-Foo: 3\nContent-Type: a/b\n\nb", "Content-Type: a/b",
    ])
    func `a message is restored unchanged`(text: String) throws {
        for fields in [Self.enveloped, Self.signed] {
            for bytes in [text.bytes, text.crlf] {
                let expected =
                    bytes.last == 10 || text.contains("\n\n")
                    ? bytes : bytes + (bytes == text.bytes ? "\n" : "\n").bytes
                let result = try roundTrip(bytes, fields)
                // A header without an empty line or a last line end gets them; otherwise it would be invalid.
                #expect(
                    result == expected || result.starts(with: bytes) && !text.contains("\n\n") && !text.hasPrefix("\n")
                )
            }
        }
    }

    @Test func `an empty line is inserted between a header and a line that is no field`() throws {
        #expect(try roundTrip("Content-Type: a/b\njunk\n".bytes, Self.signed) == "Content-Type: a/b\n\njunk\n".bytes)
    }

    @Test(arguments: 0..<50)
    func `fields in random order are restored unchanged`(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let names = [
            "From", "To", "MIME-Version", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition",
            "Content-ID",
            "Content-Length", "X-Foo", "Received", "content-description", "Content-Language",
        ]
        for _ in 0..<20 {
            let header = names.shuffled(using: &generator).prefix(Int.random(in: 0...names.count, using: &generator))
            let text = header.map { "\($0): \($0.count)\n" }.joined() + "\nbody\n"
            for fields in [Self.enveloped, Self.signed, Array(Self.enveloped.reversed())] {
                #expect(try roundTrip(text.bytes, fields) == text.bytes)
                #expect(try roundTrip(text.crlf, fields) == text.crlf)
            }
        }
    }

    @Test func `from an entity of another program only the content fields are restored`() throws {
        let outer = try HeaderBlock(
            parsing: "From: a@b\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime\nTo: c@d\n\n".bytes
        )
        let inner = try HeaderBlock(parsing: "From: mallory@x\nMIME-Version: 1.0\nContent-Type: text/plain\n\n".crlf)
        #expect(
            HeaderSplit.join(outer: outer, inner: inner).text
                == "From: a@b\nMIME-Version: 1.0\nContent-Type: text/plain\nTo: c@d\n\n"
        )
    }

    /// openssl encrypts the whole mail and copies no field unless told.
    @Test(arguments: [ProtectedHeader.Extent.all, .gateway])
    func `fields that exist only inside are restored if people read them`(extent: ProtectedHeader.Extent) throws {
        let outer = try HeaderBlock(parsing: "To: a@b\nMIME-Version: 1.0\nContent-Type: x/y\n\n".bytes)
        let text =
            "To: c@d\nFrom: g@h\nSubject: hi\nX-SMIME: no\nList-Id: <l>\nBcc: e@f\nContent-Type: text/plain\n\n"
        let joined = HeaderSplit.join(outer: outer, inner: try HeaderBlock(parsing: text.bytes), extent)
        // Other programs checked the author before the gateway did, and saw no From.
        let author = extent == .all ? "From: g@h\n" : ""
        #expect(joined.text == "To: a@b\nMIME-Version: 1.0\n\(author)Subject: hi\nContent-Type: text/plain\n\n")
    }

    /// openssl writes the fields of a signed mail above the signature, and then encrypts the whole mail.
    @Test(arguments: [ProtectedHeader.Extent.all, .gateway])
    func `fields of the layers between are restored, the innermost first`(extent: ProtectedHeader.Extent) throws {
        func header(_ fields: String) throws -> HeaderBlock { try HeaderBlock(parsing: (fields + "\n").bytes) }
        let joined = HeaderSplit.join(
            outer: try header("To: a@b\nContent-Type: x/y\n"),
            inner: try header("Content-Type: text/plain\nDate: inside\n"),
            extent,
            between: [
                try header("To: c@d\nSubject: first\nCc: i@j\nContent-Type: x/z\n"),
                try header("Date: between\nFrom: g@h\nSubject: second\nX-SMIME: no\nContent-Type: x/z\n"),
            ]
        )
        let author = extent == .all ? "From: g@h\n" : ""
        #expect(
            joined.text
                == "To: a@b\nContent-Type: text/plain\nDate: inside\n\(author)Subject: second\nCc: i@j\n\n"
        )
    }

    @Test(.timeLimit(.minutes(15))) func `headers with many fields are joined in a short time`() throws {
        func header(_ field: String) throws -> HeaderBlock {
            try HeaderBlock(parsing: Array((String(repeating: field, count: 100_000) + "\n").utf8))
        }
        let joined = HeaderSplit.join(outer: try header("tx:\n"), inner: try header("to:\n"))
        #expect(joined.count == 800_001)
    }

    @Test(.enabled(if: Fixtures.corpora != nil, "the corpora are not here"))
    func `every message of the corpora is restored unchanged`() throws {
        let corpora = try #require(Fixtures.corpora)
        var messages = 0
        for set in ["mime-mimekit", "mime-thunderbird"] {
            let folder = corpora.appending(path: set)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
                let bytes = try Fixtures.corpus("\(set)/\(name)")
                for fields in [Self.enveloped, Self.signed] {
                    #expect(try roundTrip(bytes, fields) == bytes, "\(set)/\(name)")
                }
                messages += 1
            }
        }
        print("FIGURE header split: \(messages) corpus messages come back byte for byte")
        #expect(messages >= 62)
    }

    /// The observer of the protected entity receives the same bytes that are written later.
    @Test(arguments: 0..<8) func `the protected entity of odd messages is observed as it is written`(seed: Int) throws {
        var messages = OddMessages(seed)
        for _ in 0..<OddMessages.count(standard: 2400) / 8 {
            let bytes = messages.next()
            let source = MemorySource(bytes)
            guard let entity = try? MIMEReader.message(in: source),
                (try? SevenBitEncoding(of: entity, in: source)) != nil
            else { continue }
            let (copy, sink) = (MemorySink(), MemorySink())
            let split = HeaderSplit(entity.header, protection: .clear)
            let header = { split.innerHeader(newEncoding: $0) }
            let form = try SevenBitEncoding(of: entity, in: source, header: header, copiedTo: copy)
            try form.write(to: sink)
            #expect(!form.wasCopied || copy.bytes == sink.bytes, "\(bytes.text)")
        }
    }
}
