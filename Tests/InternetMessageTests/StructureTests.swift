import ByteStreams
import InternetMessage
import TestSupport
import Testing

@Suite struct StructureTests {
    private static let nested = """
        Content-Type: multipart/mixed; boundary="bnd"

        preamble
        --other
        --bnd  \t
        Content-Type: multipart/alternative; boundary=bnd2

        --bnd2

        one
        --bnd2
        Content-Type: text/html

        two

        --bnd2--
        inner epilogue
        --bnd
        --bnd--
        epilogue
        --bnd

        """

    @Test(arguments: [LineEnd.crlf, .lf])
    func `a changed header moves the parts, and another content type changes them`(lineEnd: LineEnd) throws {
        let bytes = lineEnd == .crlf ? Self.nested.crlf : Self.nested.bytes
        let (entity, _) = try parse(bytes)
        for changed in entity.header.variants(of: bytes) {
            let known = try MIMEReader.message(in: changed, afterChangeTo: entity)
            #expect(try known.outline == MIMEReader.message(in: changed).outline)
        }
    }

    @Test(arguments: [LineEnd.crlf, .lf])
    func `parts are byte ranges of the source`(lineEnd: LineEnd) throws {
        let (entity, source) = try parse(lineEnd == .crlf ? Self.nested.crlf : Self.nested.bytes)
        #expect(entity.defects.isEmpty)
        #expect(entity.isTerminated)
        #expect(entity.children.map(\.contentType.name) == ["multipart/alternative", "text/plain"])
        let inner = try #require(entity.part(0))
        #expect(inner.isTerminated)
        #expect(try inner.part(0)?.body(in: source) == "one")
        #expect(try inner.part(1)?.body(in: source) == "two" + lineEnd.rawValue)
        #expect(try inner.text(in: source).hasSuffix("inner epilogue"))
        #expect(try entity.part(1)?.text(in: source) == "")
    }

    @Test func `a part without an empty line has no body`() throws {
        let (entity, source) = try parse(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\nA: b\n\n--b\nC: d\n--b--\n".crlf
        )
        #expect(try entity.part(0)?.text(in: source) == "A: b\r\n")
        #expect(try entity.part(0)?.body(in: source) == "")
        #expect(try entity.part(1)?.text(in: source) == "C: d")
        #expect(entity.part(1)?.header.first("C")?.value == "d")
    }

    @Test func `a From line is accepted only in front of a message`() throws {
        let (entity, source) = try parse(
            "From x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nFrom y\n--b--\n".bytes
        )
        #expect(entity.defects == [.mboxLine])
        #expect(entity.part(0)?.defects == [.missingHeaderEnd])
        #expect(try entity.part(0)?.body(in: source) == "From y")
    }

    @Test func `a missing closing delimiter is a defect`() throws {
        let (entity, source) = try parse("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nlast".bytes)
        #expect(entity.defects == [.unterminatedMultipart])
        #expect(!entity.isTerminated)
        #expect(try entity.part(0)?.body(in: source) == "last")
    }

    @Test func `an outer delimiter ends the parts inside`() throws {
        let text = """
            Content-Type: multipart/mixed; boundary=a

            --a
            Content-Type: multipart/mixed; boundary=b

            --b

            x
            --a

            y
            --a--
            """
        let (entity, source) = try parse(text.crlf)
        #expect(entity.isTerminated)
        #expect(entity.part(0)?.defects == [.unterminatedMultipart])
        #expect(try entity.part(0, 0)?.body(in: source) == "x")
        #expect(try entity.part(1)?.body(in: source) == "y")
    }

    @Test(arguments: [
        ("Content-Type: multipart/signed\n\n--b\n", MIMEDefect.missingBoundary),
        ("Content-Type: multipart/mixed; boundary=\"\"\n\n", .missingBoundary),
        ("Content-Type: multipart/mixed; boundary=a; boundary=b\n\n--a\n\n--a--\n", .contradictoryBoundary),
        ("Content-Type: multipart/mixed; boundary*=''b; boundary=a\n\n--b\n\n--b--\n", .contradictoryBoundary),
        (
            "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\n--b\n\n--b--\n",
            .encodedMultipart
        ),
        (
            "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: x\n\n--b\n\n--b--\n",
            .encodedMultipart
        ),
        ("Content-Type: text/plain\ncontent-type: text/html\n\n", .duplicateContentType),
        ("Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: 8bit\n\n", .duplicateTransferEncoding),
    ])
    func `defects that make a structure ambiguous are errors`(text: String, defect: MIMEDefect) throws {
        let (entity, _) = try parse(text.bytes)
        #expect(entity.defects == [defect])
        #expect(defect.isError)
    }

    @Test func `the lines of an OpenPGP signature are no defect`() throws {
        let signature = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
        let part = "Content-Type: application/pgp-signature\n\n\(signature)"
        let text = "Content-Type: multipart/signed; boundary=b\n\n--b\n\nx\n--b\n\(part)--b--\n"
        #expect(try parse(text.bytes).0.defects.isEmpty)
    }

    /// Each of these made a mail reader display other parts than those that were verified.
    @Test(arguments: [
        "boundary=b evil", "boundary=b \"x\"", "boundary=(x)b", "boundary=b(evil)", "(; boundary=evil;) boundary=b",
        "boundary=b; (boundary=evil)", "boundary*0=\"b\"; boundary*2=\"nd\"", "boundary*=us-ascii''b", "boundary=\"b",
        "charset=\"x\" boundary=evil; boundary=b", "charset=x, boundary=evil; boundary=b", "boundary=b\u{C}",
        #"boundary="\b""#, "boundary=\"<b>\"", #"x="a\\"; boundary=b; y="\"; boundary=evil; z=""#, "\";; boundary=b",
        "()boundary=b", "boundary=b ()", "boundary=b; x=(y)", "x=a\"; boundary=b; y=\"c\"", "boundary=\" b\"",
        "x=\\; boundary=b",
        #"charset="a\"b"; boundary=b"#,
        (0..<1_001).map { "p\($0)=x; " }.joined() + "boundary=b",
        "boundary=b; " + (0..<1_001).map { "p\($0)=x; " }.joined() + "boundary*=us-ascii''evil",
    ])
    func `a boundary that programs read differently is an error`(parameters: String) throws {
        let (entity, _) = try parse("Content-Type: multipart/mixed; \(parameters)\n\n--b\n\nx\n--b--\n".bytes)
        #expect(!entity.defects.isDisjoint(with: [.contradictoryBoundary, .missingBoundary]))
    }

    @Test(arguments: [
        "boundary=----=_Part_1:2/3?x", "boundary=\"b (c) d\"", "boundary=b ; charset=\"my boundary\"",
        "boundary=b; charset=\"a;b=(c)\"", "report-type=x; boundary=\"boundary\";",
    ])
    func `a boundary that all programs read alike is no error`(parameters: String) throws {
        let (entity, _) = try parse("Content-Type: multipart/mixed; \(parameters)\n\nx\n".bytes)
        #expect(!entity.defects.contains(.contradictoryBoundary))
    }

    @Test(arguments: [
        "(a) multipart/mixed", "multipart/mixed (a/b)", "multipart / mixed", "multipart/ mixed", "multipart/mixed x",
    ])
    func `a multipart that only some programs recognize is an error`(type: String) throws {
        let (entity, _) = try parse("Content-Type: \(type); boundary=b\n\n--b\n\nx\n--b--\n".bytes)
        #expect(entity.defects.contains(.contradictoryBoundary))
    }

    /// Before the first part, and also inside parts if only blanks and controls follow the boundary.
    @Test(arguments: [
        ("--b" + String(repeating: " ", count: 1_100), true), ("--b\r", true), ("--b\u{C}", true), ("--b\u{B}", true),
        ("--b--\u{C}", true), ("--b\0", true), ("x\r--b", true), ("--bx", false), ("--b x", false),
    ])
    func `a line that only some programs take for a delimiter is an error`(line: String, isMere: Bool) throws {
        let type = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        for (preamble, body) in [(line, "x"), ("x", line), ("x", "x\r\n\(line)\r\nx")] {
            let (entity, _) = try parse((type + "\(preamble)\r\n--b\r\n\r\n\(body)\r\n--b--\r\n").bytes)
            let isError = isMere || preamble == line
            #expect(entity.defects.contains(.contradictoryBoundary) == isError, "\(preamble), \(body)")
        }
    }

    @Test func `only a whole line is a delimiter`() throws {
        let lines = [
            "--bx", " --b", "--b x", "--", "---b", "-b", "--b-", "--b---", "--B",
            "--b" + String(repeating: " ", count: 2_000) + "x",
        ]
        let body = lines.joined(separator: "\r\n")
        let text = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n\(body)\r\n--b \t \r\n\r\n--b--"
        let (entity, source) = try parse(text.bytes)
        #expect(entity.children.count == 2)
        #expect(try entity.part(0)?.body(in: source) == body)
        #expect(entity.isTerminated)
    }

    @Test func `delimiters are found in windows of any size`() throws {
        for offset in -90..<10 {
            let filler = String(repeating: "x", count: Window.size + offset)
            let text =
                "Content-Type: multipart/mixed; boundary=bnd\r\n\r\n--bnd\r\n\r\n\(filler)\r\n--bnd\r\n\r\nlast\r\n--bnd--\r\n"
            let source = MemorySource(text.bytes)
            let entity = try MIMEReader.message(in: source)
            try #require(entity.children.count == 2)
            #expect(entity.children[0].bodyRange.count == filler.utf8.count)
            #expect(try entity.children[1].body(in: source) == "last")
        }
    }

    @Test func `a digest contains messages, and a message has its own parts`() throws {
        let text = """
            Content-Type: multipart/digest; boundary=d

            --d

            Subject: inner
            Content-Type: multipart/mixed; boundary=e

            --e

            deep
            --e--
            --d--
            """
        let (entity, source) = try parse(text.crlf)
        let part = try #require(entity.part(0))
        #expect(part.contentType == .message)
        #expect(part.children.isEmpty)
        let message = try #require(try part.embeddedMessage(in: source))
        #expect(message.header.first("Subject")?.value == "inner")
        #expect(try message.part(0)?.body(in: source) == "deep")
    }

    @Test func `bodies are decoded`() throws {
        let text = """
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Transfer-Encoding: BASE64 (comment)

            aGVs
            bG8=
            --b
            Content-Transfer-Encoding: quoted-printable

            caf=C3=A9 =
            au lait  \t
            end
            --b
            Content-Transfer-Encoding: 8bit

            é
            --b--
            """
        let (entity, source) = try parse(text.crlf)
        let bodies = try entity.children.map { try $0.decodedBody(of: source).all().text }
        #expect(bodies == ["hello", "café au lait\r\nend", "é"])
    }

    @Test func `random input never fails and every part lies inside its parent`() throws {
        var generator = SeededGenerator(1)
        let words = [
            "--a", "--b", "--a--", "--b--", "\n", "\r\n", "\r", "\n\n", " ", ":", "x", "-", "--", "Content-Type: ",
            "multipart/mixed; ",
            "boundary=a", "boundary=b", "boundary=\"a", "message/rfc822", "\u{0}", "é", "From ", ";",
            "Content-Transfer-Encoding: base64",
        ]
        for _ in 0..<600 {
            let count = Int.random(in: 0...60, using: &generator)
            let text = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined()
            let (entity, _) = try parse(("Content-Type: multipart/mixed; boundary=a\n\n" + text).bytes)
            check(entity)
        }
    }

    private func check(_ entity: Entity) {
        #expect(entity.range.contains(entity.bodyRange.lowerBound) || entity.bodyRange.isEmpty)
        #expect(entity.bodyRange.upperBound == entity.range.upperBound)
        var position = entity.bodyRange.lowerBound
        for child in entity.children {
            #expect(child.range.lowerBound >= position)
            position = child.range.upperBound
            check(child)
        }
        #expect(position <= entity.range.upperBound)
    }
}
