import ByteStreams
import InternetMessage
import TestSupport
import Testing

@Suite struct SevenBitEncodingTests {
    private func form(_ bytes: [UInt8]) throws -> (form: SevenBitEncoding, output: [UInt8]) {
        let (entity, source) = try parse(bytes)
        let copy = MemorySink()
        let form = try SevenBitEncoding(of: entity, in: source, copiedTo: copy)
        let (sink, again) = (MemorySink(), CountingSink())
        try form.write(to: sink)
        try form.write(to: again)
        #expect(again.count == sink.bytes.count)
        if form.wasCopied { #expect(copy.bytes == sink.bytes) }
        return (form, sink.bytes)
    }

    /// The decoded contents of the leaf parts, also of embedded messages, with canonical lines except for binary parts.
    private func contents(_ entity: Entity, in source: any ByteSource) throws -> [[UInt8]] {
        if !entity.children.isEmpty { return try entity.children.flatMap { try contents($0, in: source) } }
        if let message = try entity.embeddedMessage(in: source) { return try contents(message, in: source) }
        switch entity.transferEncoding {
        case .binary, .base64: return [try entity.decodedBody(of: source).all()]
        default:
            let lines = LineEndReader(source.reader(in: entity.bodyRange), lineEnd: .crlf)
            return [try entity.transferEncoding == .quotedPrintable ? QuotedPrintableDecoder(lines).all() : lines.all()]
        }
    }

    @Test(arguments: ["-- \r\nAlice\r\n", "From here\r\n", ".\r\n", "caf\u{E9}\r\n"])
    func `multipart/signed inside another entity keeps its content`(text: String) throws {
        let signed =
            "Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n\r\n\(text)--s\r\n\r\nx\r\n--s--\r\n"
        let bodies = [
            "Content-Type: multipart/mixed; boundary=m\r\nContent-Transfer-Encoding: 8bit\r\n\r\n--m\r\n\(signed)--m--\r\n",
            "Content-Type: message/rfc822\r\n\r\nFrom: a@x.test\r\n\(signed)", signed,
        ]
        for body in bodies {
            let (form, output) = try form(Array("MIME-Version: 1.0\r\n\(body)".utf8))
            #expect(form.unsafeParts.isEmpty)
            let written = String(decoding: output, as: UTF8.self)
            #expect(written.contains("--s\r\n\r\n\(text)--s\r\n"))
            #expect(!text.utf8.contains { $0 > 127 } || !written.contains("7bit"))
        }
        let long = signed.replacing(text, with: String(repeating: "x", count: 999) + "\r\n")
        #expect(try form(Array("\(long)".utf8)).form.unsafeParts.count == 1)
    }

    @Test func `transport-safe content is kept byte for byte, with canonical line ends`() throws {
        let text = """
            Subject: x \t
            Content-Type: multipart/mixed;
             boundary=b

            preamble
            --b
            Content-Transfer-Encoding: QUOTED-printable

            caf=C3=A9=20
            --b
            Content-Type: application/x; name="e"
            Content-Transfer-Encoding: base64

            aGVsbG8=
            --b--
            epilogue

            """
        let (form, output) = try form(text.bytes)
        #expect(!form.needsEncoding)
        #expect(form.unsafeParts.isEmpty)
        #expect(output == text.crlf)
    }

    @Test(arguments: ["\n", "\r\n"], [1, 20_000])
    func `transport-safe content is read once, whatever its line ends`(lineEnd: String, lines: Int) throws {
        let line = "Fifty bytes of text that nobody has to encode.  Yes." + lineEnd
        let part = "Content-Type: text/plain\(lineEnd)\(lineEnd)" + String(repeating: line, count: lines)
        let head = "Subject: x\(lineEnd)Content-Type: multipart/mixed; boundary=b\(lineEnd)\(lineEnd)"
        let text = "\(head)--b\(lineEnd)\(part)--b\(lineEnd)\(part)--b--\(lineEnd)"
        #expect(try form(text.bytes).form.wasCopied)
        #expect(try form(part.bytes).form.wasCopied)
        #expect(try !form((part + "é" + lineEnd).bytes).form.wasCopied)
        // The first line ends in CRLF, which suggests that nothing has to be changed.
        let mixed = part + "x" + (lineEnd == "\n" ? "\r\n" : "\n")
        #expect(try form(mixed.bytes).form.wasCopied == (lineEnd == "\n"))
    }

    @Test(arguments: [
        ("Grüße aus Köln, und viele Grüße an alle zu Hause\n", "quoted-printable"), ("Привет из Москвы\n", "base64"),
        (String(repeating: "\u{0}\u{1}", count: 5000), "base64"),
        (String(repeating: "x", count: 5000), "quoted-printable"),
        (String(repeating: "=", count: 5000), "base64"),
    ])
    func `text gets the encoding that makes it shorter`(body: String, encoding: String) throws {
        for declared in ["8bit", "quoted-printable"] where declared == "8bit" || body.utf8.contains(0xD0) {
            let head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: \(declared)\n\n"
            let (form, output) = try form((head + body).bytes)
            #expect(form.needsEncoding && output.text.contains("Content-Transfer-Encoding: \(encoding)\r\n"))
            let (again, source) = try parse(output)
            #expect(try contents(again, in: source) == [body.crlf])
        }
    }

    @Test func `a carriage return at the end of the input does not become part of a line end`() throws {
        let text = "Content-Type: multipart/mixed; boundary=b\n\n--b\nX: y"
        #expect(try form((text + "\r").bytes).output == text.crlf)
    }

    @Test func `an encoded line that would decode to a delimiter stays encoded`() throws {
        let text = """
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Transfer-Encoding: quoted-printable

            é=20
            =2D-b
            X: y
            -=2Db--
            --b--

            """
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding)
        let (entity, source) = try parse(output)
        #expect(try contents(entity, in: source) == ["é \n--b\nX: y\n--b--".crlf])
    }

    @Test(arguments: [
        "é", "a \n", "a\t", "From x\n", "x\n.\ny", "\u{0}", "a\rb", String(repeating: "x", count: 999), ".", "--b ",
        "a=b é\n",
        String(repeating: "- ", count: 500) + "é", "\r\r\n",
    ])
    func `an encoded part decodes to the same content`(body: String) throws {
        for (type, encoding) in [("text/plain; charset=utf-8", "quoted-printable"), ("application/x", "base64")] {
            let text =
                "Content-Type: multipart/mixed; boundary=bnd\n\n--bnd\nContent-Type: \(type)\n\n\(body)\n--bnd--\n"
            let (before, source) = try parse(text.bytes)
            let (form, output) = try form(text.bytes)
            #expect(form.needsEncoding)
            #expect(form.unsafeParts.isEmpty)
            let (after, newSource) = try parse(output)
            #expect(try LineStatistics(of: newSource.reader()).isTransportSafe)
            #expect(try contents(after, in: newSource) == contents(before, in: source))
            #expect(after.part(0)?.transferEncoding.name == encoding)
            #expect(after.part(0)?.header.all("Content-Transfer-Encoding").count == 1)
        }
    }

    @Test func `8-bit labels are replaced where they stand`() throws {
        let text = """
            Content-Transfer-Encoding: 8bit
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Transfer-Encoding: 8BIT
            X: y

            plain
            --b
            content-transfer-encoding: binary
            Content-Type: application/x

            a\nb\r\nc
            --b--

            """
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding)
        let (entity, source) = try parse(output)
        #expect(entity.header.fields.map(\.value).first == "7bit")
        #expect(entity.part(0)?.header.fields.map(\.value) == ["7bit", "y"])
        #expect(entity.part(1)?.transferEncoding == .base64)
        #expect(try entity.part(1)?.decodedBody(of: source).all() == "a\nb\r\nc".bytes)
    }

    /// Mail servers break lines of over 998 bytes, which makes a signature invalid.
    @Test(arguments: [
        "Content-Type: application/x; name=\"\(String(repeating: "n", count: 1_200))\"",
        "Content-Type: application/x; name=\"\(String(repeating: "na me ", count: 200))e\"",
        "Content-Type: application/x; \((0..<100).map { "p\($0)=value\($0)" }.joined(separator: "; "))",
        "Content-Description: \(String(repeating: "word  ", count: 300))x\nContent-Type: application/x",
        "X-Part: \(String(repeating: "\tword", count: 300))\nContent-Type: application/x",
        "Content-Type: application/x; a=\"\(String(repeating: "n", count: 1_200))\"; b=\(String(repeating: "m", count: 999))",
    ])
    func `long lines in the header of a part are folded`(fields: String) throws {
        let text = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\(fields)\n\nx\n--b--\n"
        let (before, source) = try parse(text.bytes)
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding && form.unsafeParts.isEmpty)
        let (after, newSource) = try parse(output)
        #expect(try LineStatistics(of: newSource.reader()).isTransportSafe)
        let (old, new) = try (#require(before.part(0)), #require(after.part(0)))
        #expect(new.contentType.name == "application/x")
        for name in old.contentType.parameters.names {
            #expect(new.contentType.parameters[name] == old.contentType.parameters[name])
        }
        for field in old.header.fields where !field.isNamed("Content-Type") {
            #expect(new.header.first(field.name)?.value == field.value)
        }
        #expect(try new.body(in: newSource) == (try old.body(in: source)))
    }

    @Test(arguments: [
        "X-Part: \(String(repeating: "x", count: 1_000))",
        "Content-Location: https://x.test/;a=\(String(repeating: "x", count: 1_000))",
        "Content-Type: application/x; name=\"\(String(repeating: "=", count: 100_000))\"",
        "Content-Type: application/x; \(String(repeating: "n", count: 100_000))=\"\(String(repeating: "=", count: 60_000))\"",
        "Content-Type: application/x; name=\"\(String(repeating: "=", count: 25_000))\"",
    ])
    func `a long line that cannot be folded is unsafe`(field: String) throws {
        let text = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\(field)\n\nx\n--b--\n"
        #expect(try form(text.bytes).form.unsafeParts.count == 1)
    }

    @Test func `no folded line consists of blanks`() throws {
        let field = "X-Part: \(String(repeating: "x", count: 850))\(String(repeating: " ", count: 200))y"
        let text = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\(field)\n\nx\n--b--\n"
        let output = try form(text.bytes).output.text
        #expect(output.contains("x\r\n    ") && output.contains("  y\r\n\r\nx"))
    }

    @Test(arguments: ["X-Long: \(String(repeating: "word ", count: 250))x", "From a@b Thu Jan  1 00:00:00 2026\nX: y"])
    func `an attached message whose header mail servers would change is encoded`(first: String) throws {
        let inner = "\(first)\nSubject: s\n\nbody\n"
        let text =
            "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n\(inner)\n--b--\n"
        let (form, output) = try form(text.bytes)
        #expect(form.unsafeParts.isEmpty && form.unsafeMessages.isEmpty)
        let (entity, source) = try parse(output)
        #expect(try LineStatistics(of: source.reader()).isTransportSafe)
        let part = try #require(entity.part(0))
        #expect(part.contentType.name == "message/global")
        #expect(try part.decodedBody(of: source).all() == inner.crlf)
    }

    /// RFC 2046 §5.2.1
    @Test func `a message in a message is not encoded as a whole`() throws {
        let text = """
            Content-Type: message/rfc822
            Content-Transfer-Encoding: 8bit

            Subject: e
            From: a@b

            body é
            """
        let (form, output) = try form(text.bytes)
        #expect(form.unsafeParts.isEmpty)
        let (entity, source) = try parse(output)
        #expect(entity.transferEncoding == .sevenBit)
        let message = try #require(try entity.embeddedMessage(in: source))
        #expect(message.header.fields.map(\.name) == ["Subject", "From", "MIME-Version", "Content-Transfer-Encoding"])
        #expect(try message.decodedBody(of: source).all().text == "body é")
    }

    /// RFC 6532 §3.7: message/global may be encoded, and message/rfc822 may not.
    @Test(arguments: ["message/rfc822", "message/global"])
    func `an attached message with a UTF-8 header becomes message/global and keeps its bytes`(type: String) throws {
        let inner = "Subject: Grüße\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nfüße\n--b--\n"
        let text = """
            Content-Type: multipart/mixed; boundary=a

            --a
            Content-Type: \(type); name=x
            Content-Transfer-Encoding: 8bit

            \(inner)
            --a--

            """
        let (form, output) = try form(text.bytes)
        #expect(form.unsafeParts.isEmpty && form.unsafeMessages.isEmpty)
        let (entity, source) = try parse(output)
        #expect(try LineStatistics(of: source.reader()).isTransportSafe)
        let part = try #require(entity.part(0))
        #expect(part.contentType.name == "message/global")
        #expect(part.contentType.parameters["name"] == "x")
        #expect(part.transferEncoding == .base64)
        #expect(try part.decodedBody(of: source).all() == inner.crlf)
    }

    @Test func `a message in a digest becomes message/global if it must be encoded`() throws {
        let text = "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: é\n\nx\n--b--\n"
        let (entity, source) = try parse(try form(text.bytes).output)
        #expect(try LineStatistics(of: source.reader()).isTransportSafe)
        #expect(entity.part(0)?.contentType.name == "message/global")
        #expect(try entity.part(0)?.decodedBody(of: source).all() == "Subject: é\n\nx".crlf)
    }

    @Test func `an attached message whose header is neither ASCII nor UTF-8 cannot be made transport-safe`() throws {
        let text =
            "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: ".bytes + [0xE9] + "\n\nx\n--b--\n".bytes
        #expect(try form(text).form.unsafeMessages.count == 1)
    }

    @Test func `header fields of parts are rewritten in ASCII with the same meaning`() throws {
        let text = """
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Type: application/x; name="Übersicht; neu.pdf"; x=y
            Content-Disposition: attachment;
             filename="Übersicht; neu.pdf"
            Content-Description: Übersicht
            Content-Transfer-Encoding: base64

            aGVsbG8=
            --b--

            """
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding)
        let (entity, source) = try parse(output)
        #expect(try LineStatistics(of: source.reader()).isTransportSafe)
        let part = try #require(entity.part(0))
        #expect(part.contentType.parameters["name"] == "Übersicht; neu.pdf")
        #expect(part.contentType.parameters["x"] == "y")
        #expect(part.disposition?.filename == "Übersicht; neu.pdf")
        #expect(part.header.first("Content-Description")?.displayValue == "Übersicht")
        #expect(try part.decodedBody(of: source).all().text == "hello")
    }

    @Test func `trailing blanks in header fields of parts are removed`() throws {
        let header = "Content-Type: text/plain; \n charset=utf-8\t\n  \n ; x=y\nX-Own: kept \n\n"
        let text = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\(header)x\n--b--\n"
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding)
        let clean = "Content-Type: text/plain;\n charset=utf-8\n ; x=y\nX-Own: kept \n\n"
        #expect(output.text == text.replacing(header, with: clean).crlf.text)
    }

    @Test func `unsafe text before and after the parts is removed`() throws {
        let text = "Content-Type: multipart/mixed; boundary=b\n\nprélude\n--b \n\nx\n--b  \n\ny\n--b--\nFrom here on\n"
        let (form, output) = try form(text.bytes)
        #expect(form.needsEncoding)
        #expect(output.text == "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\n\ny\n--b--\n".crlf.text)
    }

    @Test(arguments: [
        "Content-Transfer-Encoding: x-uuencode\n\né", "Content-Type: multipart/mixed\n\né",
        "Content-Type: message/partial\n\né", "Content-Transfer-Encoding: base64\n\n§§ \n", "Content-ID: <é@b>\n\nx",
    ])
    func `parts that cannot be made transport-safe are reported`(text: String) throws {
        let (form, output) = try form(text.bytes)
        #expect(form.unsafeParts == [0..<text.utf8.count])
        #expect(output == text.crlf)
    }

    @Test(arguments: 0..<200)
    func `random messages become transport-safe and keep their content`(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let words = [
            "a", " ", "\t", "\n", "\r\n", "From ", ".", "\n.\n", "é", "=", "=20", "--", "-b0", "x ", "\u{0}", "\r",
            "\nFrom ", "rom ",
        ]
        func body() -> String {
            (0..<Int.random(in: 0...200, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }
                .joined()
        }
        func entity(_ depth: Int) -> String {
            switch Int.random(in: 0...(depth > 2 ? 3 : 5), using: &generator) {
            case 0: return "Content-Type: text/plain\n\n" + body()
            case 1: return "Content-Type: application/x\nContent-Transfer-Encoding: 8bit\n\n" + body()
            case 2: return "Content-Type: image/x\nContent-Transfer-Encoding: binary\n\n" + body()
            case 3: return "Content-Transfer-Encoding: quoted-printable\n\n" + body()
            case 4: return "Content-Type: message/rfc822\n\nSubject: x\n" + entity(depth + 1)
            default:
                let boundary = "boundary-\(depth)-\(Int.random(in: 0...9_999, using: &generator))"
                let parts = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                    "--\(boundary)\n" + entity(depth + 1) + "\n"
                }
                return "Content-Type: multipart/mixed; boundary=\(boundary)\n\n\(parts.joined())--\(boundary)--\n"
            }
        }
        let bytes = entity(0).bytes
        let (before, source) = try parse(bytes)
        let (form, output) = try form(bytes)
        let (after, newSource) = try parse(output)
        #expect(form.unsafeParts.isEmpty)
        #expect(try LineStatistics(of: newSource.reader()).isTransportSafe)
        #expect(try contents(after, in: newSource) == contents(before, in: source))
        if !form.needsEncoding { #expect(try before.canonicalStream(of: source).all() == output) }
    }
}
