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

    enum SignedForm { case detached, opaque }
}
