import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import TestSupport
import Testing

/// Messages made to deceive the reader of the verdict, or to use decryption as an oracle.
@Suite struct HostileMessageTests {
    private static let time = Date(timeIntervalSince1970: 1_790_000_000)
    private static let header = "From: alice@example.com\r\nTo: bob@example.com\r\nMIME-Version: 1.0\r\n"

    private func opener(exceptions: VerdictExceptions = []) throws -> MessageOpener {
        MessageOpener(try Keyring(people: ["alice"]), at: Self.time, exceptions: exceptions)
    }

    /// A SignedData by alice with embedded or detached content.
    private func sign(_ content: [UInt8], isDetached: Bool = false) throws -> [UInt8] {
        let (digest, count) = try SignedDataWriter.digest(.sha256) { try $0.write(content) }
        let writer = try SignedDataWriter(
            signer: SignedDataWriter.Signer(person: "alice"),
            contentDigest: digest,
            contentCount: isDetached ? nil : count,
            time: Self.time
        )
        let sink = MemorySink()
        try writer.write(to: sink, content: isDetached ? nil : { try $0.write(content) })
        return sink.bytes
    }

    private func opaque(_ object: [UInt8]) -> String {
        "Content-Type: application/pkcs7-mime; smime-type=signed-data\r\nContent-Transfer-Encoding: base64\r\n\r\n"
            + Data(object).base64EncodedString() + "\r\n"
    }

    private func content(of result: VerifiedContent) throws -> [UInt8]? {
        let sink = MemorySink()
        return try result.writeContent(to: sink) ? sink.bytes : nil
    }

    private func verify(_ message: String) async throws -> VerifiedContent {
        try await opener().verify(MemorySource(Array(message.utf8)))
    }

    @Test func `a PEM block of one line is refused`() {
        let line = Array("-----BEGIN CMS----------END CMS-----\n".utf8)
        #expect(throws: CMSError.malformed(.pem, "no PEM block")) {
            try PEMObject.stream(of: MemorySource(line))
        }
    }

    @Test func `an unknown compression algorithm is a problem in the report, not an error`() async throws {
        let sink = MemorySink()
        let content = Array("Content-Type: text/plain\r\n\r\nhello\r\n".utf8)
        try CompressedDataWriter { try $0.write(content) }.write(to: sink) { try $0.write(content) }
        // id-alg-zlibCompress, and the identifier with the next number.
        let zlib: [UInt8] = [0x86, 0xf7, 0x0d, 1, 9, 16, 3, 8]
        let place = try #require(sink.bytes.indices.first { sink.bytes[$0...].starts(with: zlib) })
        var object = sink.bytes
        object[place + 7] = 99
        let message = Self.header + opaque(object).replacing("signed-data", with: "compressed-data")
        let report = try await verify(message).report
        #expect(report.status == .malformed)
        #expect(report.problems.map(\.code) == ["algorithm-unsupported"])
    }

    @Test func `the written content is the hashed content`() async throws {
        let entity = "Content-Type: text/plain\n\nhello\n"
        let bare = try await opener().verify(cms: MemorySource(sign(Array(entity.utf8))).stream(), detached: nil)
        #expect(bare.report.status == .valid)
        #expect(try content(of: bare) == Array(entity.utf8))

        let opaque = try await verify(Self.header + opaque(sign(Array(entity.utf8))))
        #expect(opaque.report.status == .valid)
        #expect(try content(of: opaque) == Array(entity.utf8))

        let signature = Data(try sign(Array(entity.utf8), isDetached: true)).base64EncodedString()
        let detached = try await verify(
            Self.header.replacing("\r\n", with: "\n")
                + "Content-Type: multipart/signed; protocol=\"application/pkcs7-signature\"; boundary=b\n\n--b\n"
                + "\(entity)\n--b\nContent-Type: application/pkcs7-signature\nContent-Transfer-Encoding: base64\n\n"
                + "\(signature)\n--b--\n"
        )
        #expect(detached.report.status == .valid)
        #expect(try content(of: detached) == Array(entity.utf8))
    }

    @Test func `unsigned content is not written as signed content`() async throws {
        let good = "Content-Type: text/plain\r\n\r\nI owe you nothing\r\n"
        let evil = Array("Content-Type: text/plain\r\n\r\nI owe you a million\r\n".utf8)
        let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        func wrap(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, UInt8(contents.count)] + contents }
        let info = wrap(0x30, data + wrap(0xA0, wrap(0x04, evil)))
        let unsigned = wrap(
            0x30,
            data.dropLast() + [2] + wrap(0xA0, wrap(0x30, [2, 1, 1, 0x31, 0] + info + [0x31, 0]))
        )
        let result = try await verify(
            Self.header + "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
                + "\(opaque(try sign(Array(good.utf8))))\r\n--b\r\n\(opaque(unsigned))\r\n--b--\r\n"
        )
        #expect(result.report.status == .partial)
        #expect(result.report.coverage == .part)
        #expect(try content(of: result) == Array(good.utf8))
    }

    @Test func `the number of checked signatures is limited`() async throws {
        let part = "--b\r\n\(opaque(try sign(Array("Content-Type: text/plain\r\n\r\nhi\r\n".utf8))))\r\n"
        let result = try await verify(
            Self.header + "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
                + String(repeating: part, count: 40) + "--b--\r\n"
        )
        #expect(result.report.status == .partial)
        #expect(result.report.signers.count == 16)
        #expect(result.report.problems.map(\.code) == ["too-many-signatures"])
    }

    @Test(arguments: [
        "Content-Type: multipart/signed; protocol=\"application/pkcs7-signature\"; boundary=b\r\n\r\n--b\r\n\r\na\r\n--b--",
        "Content-Type: application/pkcs7-mime\r\n\r\nnothing of that kind\r\n",
        "Content-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\n***\r\n",
    ])
    func `faults inside unauthenticated encryption are not reported`(entity: String) async throws {
        let recipient = Recipient(unchecked: try TestIdentity("alice").certificate)
        for cipher in [ContentCipher.aes128CBC, .aes256GCM] {
            let sink = MemorySink()
            // Our own writer refuses to encrypt this.
            try EnvelopedDataWriter(to: [recipient], cipher: cipher, contentCount: entity.utf8.count)
                .write(to: sink) { try $0.write(entity) }
            let type = cipher.isAuthenticated ? "authEnveloped-data" : "enveloped-data"
            let text = Self.header + opaque(sink.bytes).replacing("signed-data", with: type)
            let error = await #expect(throws: (any Error).self) {
                try await opener().decrypt(MemorySource(Array(text.utf8)))
            }
            #expect((error as? CMSError == .decryptionFailed) == (cipher == .aes128CBC), "\(String(describing: error))")
        }
    }

    @Test func `defects of the MIME structure are in the report`() async throws {
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array("\(Self.header)\r\nhello\r\n".utf8)))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: Self.time, to: sink)
        let text = String(decoding: sink.bytes, as: UTF8.self)
        let marked = try await verify("\u{FEFF}" + text)
        #expect(marked.report.status == .valid)
        #expect(marked.report.problems.map(\.code) == ["byte-order-mark"])
        let plain = try await verify(text)
        #expect(plain.report.problems.isEmpty)
        let end = try #require(text.range(of: "\r\n--smime-", options: .backwards))
        let open = try await verify(String(text[..<end.lowerBound]))
        #expect(open.report.problems.map(\.code) == ["unterminated-multipart"])
    }

    @Test func `decrypting a mail that only contains certificates is an error`() async throws {
        let openssl = try OpenSSLCommand()
        let chain = Fixtures.certs.appending(path: "alice/chain.pem").path
        let bag = try openssl.run("crl2pkcs7 -nocrl -certfile \(chain) -outform DER", input: [])
        let text = Self.header + opaque(bag).replacing("signed-data", with: "certs-only")
        await #expect(throws: MessageError.certificatesOnly) {
            try await opener().decrypt(MemorySource(Array(text.utf8)))
        }
    }

    @Test func `a signed file that is no mail verifies`() async throws {
        let result = try await opener().verify(
            cms: MemorySource(sign([UInt8](repeating: 0x80, count: 2 << 20))).stream(),
            detached: nil
        )
        #expect(result.report.status == .valid)
        #expect(try content(of: result)?.count == 2 << 20)
    }

    @Test func `with two Sender fields neither counts`() async throws {
        let sink = MemorySink()
        let header = Self.header.replacing("From: alice", with: "From: carol")
        try MessageProtector(MemorySource(Array("Sender: alice@example.com\r\n\(header)\r\nhello\r\n".utf8)))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: Self.time, to: sink)
        let text = String(decoding: sink.bytes, as: UTF8.self)
        let one = try await verify(text)
        #expect(one.report.status == .mismatch)
        #expect(one.report.signers[0].identity.problems.map(\.kind) == [.signerIsSender])
        let accepted = try await opener(exceptions: .sender).verify(MemorySource(Array(text.utf8)))
        #expect(accepted.report.status == .valid)
        #expect(accepted.learnable == nil)
        let two = try await verify(
            text.replacing("To: bob", with: "Sender: mallory@example.com\r\nTo: bob", maxReplacements: 1)
        )
        #expect(two.report.status == .mismatch)
    }

    @Test(arguments: [ContentCipher.aes128CBC, .aes256GCM])
    func `a file that changed after it was checked is not decrypted`(cipher: ContentCipher) async throws {
        let recipient = Recipient(unchecked: try TestIdentity("alice").certificate)
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array("\(Self.header)\r\nhello\r\n".utf8)))
            .encrypt(to: [recipient], cipher: cipher, at: Self.time, to: sink)
        let file = FileManager.default.temporaryDirectory.appending(path: "smime-\(UUID().uuidString)")
        try Data(sink.bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let opened = try await opener().decrypt(FileSource(path: file.path))
        try Data(sink.bytes + [10]).write(to: file, options: [])
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(sink.bytes.count + 3))
        try handle.close()
        #expect(throws: StreamError.changedWhileReading) { try opened.write(to: MemorySink()) }
    }

    @Test(arguments: [ContentCipher.aes128CBC, .aes256GCM])
    func `a file that changes while it is decrypted again is not output further`(cipher: ContentCipher) async throws {
        let recipient = Recipient(unchecked: try TestIdentity("alice").certificate)
        let sink = MemorySink()
        let text = Self.header + "\r\n" + String(repeating: "hello\r\n", count: 200_000)
        try MessageProtector(MemorySource(Array(text.utf8)))
            .encrypt(to: [recipient], cipher: cipher, at: Self.time, to: sink)
        let folder = try TemporaryFolder()
        let file = folder.file("mail")
        try Data(sink.bytes).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: file.path
        )
        let opened = try await opener().decrypt(FileSource(path: file.path))
        var count = 0
        let output = ClosureSink { bytes in
            count += bytes.count
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: Data("x".utf8))
            try handle.close()
        }
        #expect(throws: StreamError.changedWhileReading) { try opened.write(to: output) }
        #expect(count < 1000)
    }

    @Test(arguments: [1, 16, 47, 48, 49, 1000])
    func `a binary part is detected in pieces of any size`(size: Int) throws {
        let text = Array((String(repeating: "-", count: 500) + "Content-Transfer-ENCODING:\r\n\tBinary\r\n").utf8)
        for text in [text, Array(text.dropLast(3))] {
            let marks = PartMarks()
            for start in stride(from: 0, to: text.count, by: size) {
                marks.write(text[start..<min(text.count, start + size)].octets)
            }
            #expect(marks.mayHoldBinary == text.reversed().starts(with: "\n\ryraniB".utf8))
        }
    }

    @Test(
        arguments: [
            (": \r\n \(String(repeating: " ", count: 100))binary\r\n", true),
            (": (\(String(repeating: "a comment ", count: 20)))\r\n binary\r\n", true),
            (" \t:binary\r\n", true), ("\(String(repeating: " ", count: 100)): binary\r\n", true),
            (": x-unknown\r\n", true),
            (": base64\r\n", false), (":7BIT\r\n", false), (": quoted-printable\r\nX-Note: binary\r\n", false),
            (" of binary files\r\n", false), (": 8bit (\(String(repeating: "binary ", count: 20)))\r\n", false),
        ],
        [1, 7, 48, 49, 4_096]
    )
    func `a binary part is detected however far its value is from the name of the field`(
        field: (String, Bool),
        size: Int
    ) {
        let text = Array("Content-Type: image/png\r\ncontent-transfer-encoding\(field.0)\r\nbody\r\n".utf8)
        let marks = PartMarks()
        for start in stride(from: 0, to: text.count, by: size) {
            marks.write(text[start..<min(text.count, start + size)].octets)
        }
        #expect(marks.mayHoldBinary == field.1)
    }
}
