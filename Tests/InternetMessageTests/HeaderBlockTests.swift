import InternetMessage
import Testing

@Suite struct HeaderBlockTests {
    @Test func `fields keep their order, bytes and names`() throws {
        let text = "Subject: one\nSUBJECT: two\n folded\nX-Empty:\n\nbody".crlf
        let header = try HeaderBlock(parsing: text)
        #expect(header.fields.map(\.name) == ["Subject", "SUBJECT", "X-Empty"])
        #expect(header.fields.map(\.value) == ["one", "two folded", ""])
        #expect(header.first("subject")?.value == "one")
        #expect(header.all("Subject").count == 2)
        #expect(header.fields.flatMap(\.rawBytes) == header.bytes)
        #expect(Array(text[header.separatorRange]) == "\r\n".bytes)
        #expect(header.lineEnd == .crlf)
        #expect(header.defects.isEmpty)
    }

    @Test func `names are compared in whatever case, whole or by their beginning`() throws {
        let field = try #require(HeaderBlock(parsing: "LIST-Id: <x>\r\n\r\n".bytes).fields.first)
        #expect(field.isNamed("list-id") && !field.isNamed("List-I") && !field.isNamed("List-Ids"))
        #expect(field.isNamed(startingWith: "List-") && field.isNamed(startingWith: "list-id"))
        #expect(!field.isNamed(startingWith: "List-Ids") && !field.isNamed(startingWith: "Lost-"))
    }

    @Test(arguments: [
        ("A: b\r\nC: d\r\n", false), ("A: b\n", false), ("A: b\r\r\nC: d\r\r\r\n", false), ("A: b\r\nC: d\r", false),
        ("A: b\rC: d\r\n", true), ("A: b\r\r\rC: d\n", true), ("A: b\r\nC:\r d\r", true),
    ])
    func `a carriage return inside of a line is found`(text: String, isFound: Bool) throws {
        #expect(try HeaderBlock(parsing: text.bytes + "\r\n".bytes).hasReturnInLine == isFound)
    }

    @Test func `a header with LF line ends is no defect`() throws {
        let header = try HeaderBlock(parsing: "A: b\n\nx".bytes)
        #expect(header.lineEnd == .lf)
        #expect(header.defects.isEmpty)
    }

    @Test(arguments: [
        ("A : b\r\n\r\n", MIMEDefect.blankBeforeColon),
        ("A: b\r\r\n\r\n", .bareCR),
        ("A: b\u{0}c\r\nB: d\r\n\r\n", .nul),
        ("\u{FEFF}A: b\r\n\r\n", .byteOrderMark),
        ("A: b\r\nB: c\n\r\n", .bareLF),
        ("From - Sat Apr 14 14:01:30 2018\r\nA: b\r\n\r\n", .mboxLine),
        ("A: b\r\nno field here\r\n\r\n", .missingHeaderEnd),
    ])
    func `a malformed field is read and its defect is reported`(text: String, defect: MIMEDefect) throws {
        let header = try HeaderBlock(parsing: text.bytes)
        #expect(header.defects == [defect])
        #expect(header.first("A")?.value.hasPrefix("b") == true)
    }

    @Test func `a line that is no field starts the body`() throws {
        let header = try HeaderBlock(parsing: "A: b\nFrom nobody\nFrom: mallory@x\n\n".bytes)
        #expect(header.range == 0..<5)
        #expect(header.separatorRange.isEmpty)
        #expect(header.first("From") == nil)
    }

    /// Some programs skip a line that is not a field, or end a line at a carriage return.
    @Test(arguments: [
        ("A: b\nX-\u{E4}: y\nContent-Type: text/html\n\n", true), ("A: b\nno field\nB: c\nfrom : x\n\n", true),
        ("A: b\n: y\nSubject: x\n", true), ("A: b\rFrom: x\n\n", true), ("A: b\r\rhello\n\n", true),
        ("A: b\nno field\nB: c\n\nFrom: x\n", false), ("A: b\rc\n\n", true), ("A: b\r\r\nC: d\r\n\r\n", true),
        ("A: b\r\n\nx", false), (">From x\nA: b\n\n", true), ("From x\nA: b\n\n", false),
        ("A: b\nno field\n\nFrom: x\n\n", false),
        ("From: x\nContent-Type : y\n\n", true), ("From: x\nSubject : y\nMIME-Version: 1.0\n\n", true),
        ("From: x\nContent-Type: y\nSubject : z\n\n", false), ("\u{FEFF}Content-Type: x\nFrom: y\n\n", true),
    ])
    func `fields that only some programs see are an error`(text: String, isHidden: Bool) throws {
        #expect(try HeaderBlock(parsing: text.bytes).defects.contains(.hiddenFields) == isHidden)
    }

    /// Some programs join a line with a NUL and the next line. Some unfold lines before they look for names.
    @Test(arguments: [
        ("A: b\nContent-Ty\u{0}x: y\npe: text/html\n\n", true), ("A: b\nFr\u{0}x: y\nom: c\n\n", true),
        ("A: b\u{0}c\nFrom: d\nB: e\n\n", true), ("A: b\u{0}c\n\nFrom: d\n", true),
        ("Content-Type: text/plain; x=a\u{0}\nB: ; y=z\nC: d\n\n", true),
        ("Subject: b\u{0}c\nDate: d\nB: e\n\n", false),
        ("A: b\nFrom\n : c\n\n", true), ("A: b\nContent\n -Type\n\t: c\n\n", true), ("A: b\nx\n From\n\n : c\n", false),
        ("A: b\nFrom\(String(repeating: " ", count: 150))\n : c\n\n", true),
        ("A: b\nFrom\n\(String(repeating: "\t", count: 150)): c\n\n", true),
        ("A: b\nFrom\n x: c\n\n", false), ("A: b\nfrom here\n on: c\n\n", false),
    ])
    func `fields that other programs join from two lines are an error`(text: String, isHidden: Bool) throws {
        #expect(try HeaderBlock(parsing: text.bytes).defects.contains(.hiddenFields) == isHidden)
    }

    /// Some programs end lines at NEL, LS and PS; the last bytes of these characters occur in many letters, too.
    @Test(arguments: [
        ("A: b\u{85}From: x\n\n", true), ("A: b\u{2028}Subject: x\n\n", true), ("A: b\u{2029}To: x\n\n", true),
        ("A: b\u{B}From: x\n\n", true), ("A: b\u{145}From: x\n\n", false), ("A: \u{C5}From: x\n\n", false),
        ("A: \u{443}\u{441}\u{43F}\u{435}\u{445}From: x\n\n", false), ("A: \u{E9}\u{2026}From: x\n\n", false),
        ("A: \u{4E05}From: x\n\n", false), ("A: \u{1F605}From: x\n\n", false), ("A: \u{168}\u{3A8}Date: x\n\n", false),
        ("A: b\njunk \u{145}From: x\n\n", false), ("A: b\njunk\u{85}From: x\n\n", true),
        ("A: b\r\n\n\u{145}From: x\r\n\r\n", false),
    ])
    func `a line does not end inside a character`(text: String, isHidden: Bool) throws {
        #expect(try HeaderBlock(parsing: text.bytes).defects.contains(.hiddenFields) == isHidden)
    }

    @Test(arguments: [
        ([0x85], true), ([0xC5, 0x85], false), ([0xE2, 0x85], true), ([0xC5, 0xC5, 0x85], false),
        ([0xE0, 0x80, 0x85], true),
        ([0xF0, 0x9F, 0x98, 0x85], false), ([0xE9, 0x85], true), ([0xA8], false), ([0xA9], false),
    ])
    func `the byte 0x85 ends a line unless it is part of a character`(bytes: [UInt8], isHidden: Bool) throws {
        let header = try HeaderBlock(parsing: "A: \u{FC}".bytes + [0xFC] + bytes + "From: x\n\n".bytes)
        #expect(header.defects.contains(.hiddenFields) == isHidden)
    }

    @Test func `a line of blanks continues a field and does not end the header`() throws {
        let header = try HeaderBlock(parsing: "A: b\n \nC: d\n\n".bytes)
        #expect(header.fields.map(\.value) == ["b", "d"])
    }

    @Test func `a header may end with the input`() throws {
        #expect(try HeaderBlock(parsing: "A: b".bytes).first("a")?.value == "b")
        #expect(try HeaderBlock(parsing: []).fields.isEmpty)
        #expect(try HeaderBlock(parsing: "\r\nbody".bytes).fields.isEmpty)
    }

    @Test func `values that are no UTF-8 are Latin-1`() throws {
        let header = try HeaderBlock(parsing: "A: caf".bytes + [0xE9] + "\n\n".bytes)
        #expect(header.first("A")?.value == "café")
    }

    @Test(arguments: [
        ("=?utf-8?Q?caf=C3=A9?= bar", "café bar"),
        ("=?utf-8?B?Y2Fmw6k=?=  =?iso-8859-1?q?_=E9?=", "café é"),
        ("=?x-unknown?Q?a?= =?utf-8?X?a?= =?", "=?x-unknown?Q?a?= =?utf-8?X?a?= =?"),
        ("a =?utf-8?Q?b?=", "a b"),
    ])
    func `encoded words are decoded for display`(text: String, expected: String) throws {
        #expect(try HeaderBlock(parsing: "A: \(text)\n\n".bytes).first("A")?.displayValue == expected)
    }

    @Test func `new fields are folded before column 78 and cannot contain line breaks`() {
        let field = NewField(
            "Content-Type",
            value: "multipart/signed",
            parameters: [
                .init("protocol", value: "application/pkcs7-signature"), .init("micalg", value: "sha-256"),
                .init("boundary", value: "abc"),
            ]
        )
        let expected = """
            Content-Type: multipart/signed; protocol="application/pkcs7-signature";
             micalg=sha-256; boundary="abc"

            """
        #expect(field.bytes(lineEnd: .lf).text == expected)
        #expect(NewField("A", value: "b\r\nC: d").bytes(lineEnd: .crlf).text == "A: b C: d\r\n")
    }

    @Test func `only the first of many names and the beginning of long ones are listed`() {
        #expect(["a", "b\u{202E}"].listedForDisplay == "a, b\\u{202E}")
        let names = (1...30).map { "x\($0)" }
        #expect(names.listedForDisplay == names.prefix(20).joined(separator: ", ") + " and 10 more")
        let long = String(repeating: "y", count: 100)
        #expect([long].listedForDisplay == long.prefix(80) + "...")
    }

    @Test func `displayed text has no control, bidirectional or invisible characters`() {
        #expect("a\u{1B}[2J\u{202E}b\u{200B}é".escapedForDisplay == "a\\u{1B}[2J\\u{202E}b\\u{200B}é")
        #expect("plain 名前".escapedForDisplay == "plain 名前")
    }
}
