import ByteStreams
import Foundation
import InternetMessage
import SMIME
import TestSupport
import Testing

@Suite struct LineEndTests {
    @Test(arguments: [SignedForm.detached, .opaque], [LineEnd.lf, .crlf])
    func `a bare carriage return survives signing`(form: SignedForm, lineEnd: LineEnd) async throws {
        let text = """
            From: alice@example.com
            Content-Type: multipart/mixed; boundary=b

            --b
            X-Odd: one\r two

            text
            --b--

            """
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array(text.utf8))).sign(
            by: SignedDataWriter.Signer(person: "alice"),
            as: form == .opaque ? .opaque : .detached,
            at: Date(timeIntervalSince1970: 1_790_000_000),
            to: sink,
            lineEnd: lineEnd
        )
        let opener = MessageOpener(try Keyring(people: ["alice"]), at: Date(timeIntervalSince1970: 1_790_000_000))
        let result = try await opener.verify(MemorySource(sink.bytes))
        #expect(result.report.signers.first?.integrity.ok == true)
        let content = MemorySink()
        #expect(try result.writeContent(to: content))
        #expect(String(decoding: content.bytes, as: UTF8.self).contains("one\r two"))
    }

    @Test(arguments: [LineEnd.lf, .crlf])
    func `carriage returns before a line end of a part's header do not break the signature`(lineEnd: LineEnd)
        async throws
    {
        let text =
            "From: alice@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\r\n\r\n"
            + "--b\r\nX-Odd: one\r\r\n\r\ntext\r\n--b--\r\n"
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array(text.utf8)))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: .judged, to: sink, lineEnd: lineEnd)
        for arrived in [LineEnd.lf, .crlf] {
            let bytes = sink.bytes.withLines(endingIn: arrived)
            let report = try await MessageOpener(try Keyring(people: ["alice"]), at: .judged).verify(
                MemorySource(bytes)
            )
            .report
            #expect(report.status == .valid)
        }
    }

    /// Line ends of both kinds, and a lone carriage return, in encrypted content that is text for S/MIME.
    private static let mixed = "one\ntwo\r\nthree\rfour\r\n"

    @Test(arguments: ["text/plain", "application/octet-stream; name=list.dat"])
    func `decrypted content is written unchanged if the message has CRLF line ends`(type: String) async throws {
        let opened = try await opened(type: type, lineEnd: .crlf)
        #expect(opened.hasSuffix("\r\n\r\n\(Self.mixed)"))
    }

    @Test(arguments: ["text/plain", "application/octet-stream; name=list.dat"])
    func `decrypted content gets the line ends of the message if these are LF`(type: String) async throws {
        let opened = try await opened(type: type, lineEnd: .lf)
        #expect(opened.hasSuffix("\n\none\ntwo\nthree\rfour\n"))
    }

    @Test func `decrypted binary content is never changed`() async throws {
        let type = "application/octet-stream\r\nContent-Transfer-Encoding: binary"
        for lineEnd in [LineEnd.lf, .crlf] {
            #expect(try await opened(type: type, lineEnd: lineEnd).hasSuffix(Self.mixed))
        }
    }

    @Test(arguments: [
        "Content-Transfer-Encoding: (\(String(repeating: "far away ", count: 12)))\r\n binary",
        "Content-Transfer-Encoding:\(String(repeating: " ", count: 64))binary",
    ])
    func `decrypted binary content is not changed if its label is far from the name of the field`(
        label: String
    ) async throws {
        let text = try await opened(type: "application/octet-stream\r\n\(label)", lineEnd: .lf)
        #expect(text.hasSuffix(Self.mixed))
    }

    /// A message with an embedded message, whose second part is binary; the embedded message has no transfer encoding.
    private static let forwarded = """
        message/rfc822\r
        \r
        From: bob@example.com\r
        Content-Type: multipart/mixed; boundary=inner\r
        \r
        --inner\r
        \r
        text\r
        --inner\r
        Content-Type: application/octet-stream\r
        Content-Transfer-Encoding: binary\r
        \r
        \(mixed)--inner--\r

        """

    @Test func `decrypted binary content of an embedded message is never changed`() async throws {
        for lineEnd in [LineEnd.lf, .crlf] {
            let text = try await opened(type: "\(Self.forwarded)", lineEnd: lineEnd, body: "")
            // The line break before the delimiter is not part of the body (RFC 2046 §5.1.1).
            let ending = lineEnd == .lf ? "\n" : "\r\n"
            #expect(text.contains("\(ending)\(ending)\(Self.mixed.dropLast())\(ending)--inner--"))
        }
    }

    @Test func `binary content of an embedded message is encrypted unchanged`() async throws {
        let mail = "From: alice@example.com\r\nContent-Type: \(Self.forwarded)"
        let bytes = Array(mail.utf8)
        let entity = try MIMEReader.message(in: MemorySource(bytes))
        #expect(try entity.canonicalStream(of: MemorySource(bytes)).all() == bytes)
    }

    @Test func `a signature is good that covers CRLF lines in a binary part of an embedded message`() async throws {
        let content = Array("Content-Type: \(Self.forwarded)".utf8).withLines(endingIn: .crlf)
        let object = MemorySink()
        try ContentProtector(MemorySource(content))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: .judged, to: object)
        let mail =
            "From: alice@example.com\r\nContent-Type: multipart/signed; boundary=outer; micalg=sha-256;\r\n"
            + " protocol=\"application/pkcs7-signature\"\r\n\r\n--outer\r\n"
            + String(decoding: content, as: UTF8.self) + "\r\n--outer\r\n"
            + "Content-Type: application/pkcs7-signature\r\nContent-Transfer-Encoding: base64\r\n\r\n"
            + Data(object.bytes).base64EncodedString() + "\r\n--outer--\r\n"
        for lineEnd in [LineEnd.lf, .crlf] {
            let source = MemorySource(Array(mail.utf8).withLines(endingIn: lineEnd))
            let report = try await MessageOpener(try Keyring(people: ["alice"]), at: .judged).verify(source).report
            #expect(report.status == .valid)
        }
    }

    /// An encrypted message with a header in `lineEnd`, opened.
    private func opened(type: String, lineEnd: LineEnd, body: String = "\r\n\r\n\(Self.mixed)") async throws -> String {
        let entity = "Content-Type: \(type)\(body)"
        let object = try CryptographicMessage.encrypt(.init(entity.utf8), to: [Recipient(password: "correct horse")])
        let mail =
            "From: alice@example.com\nContent-Type: application/pkcs7-mime; smime-type=authenveloped-data\n"
            + "Content-Transfer-Encoding: base64\n\n\(Data(object).base64EncodedString())\n"
        let message = try Message(Array(mail.utf8).withLines(endingIn: lineEnd))
        let opened = try await message.opened(with: Keyring([]), password: "correct horse")
        return String(decoding: try await opened.bytes(), as: UTF8.self)
    }

    enum SignedForm { case detached, opaque }
}
