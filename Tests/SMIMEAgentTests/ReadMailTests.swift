import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
import Testing

/// The text that `smime read` shows for hostile mail.
@Suite struct ReadMailTests {
    private static let good = ReadVerdict(.good, "Valid: signed by alice@example.com")
    private static let unsigned = ReadVerdict(.neutral, "Not signed")

    private func message(_ text: String, totalLimit: Int = 16 << 20) throws -> ReadableMessage {
        try ReadableMessage(MemorySource(Array(text.utf8)), totalLimit: totalLimit)
    }

    private func mixed(_ parts: String...) -> String {
        "From: eve@example.com\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
            + parts.map { "--x\nContent-Type: text/plain; charset=utf-8\n\n\($0)\n" }.joined() + "--x--\n"
    }

    @Test(arguments: [
        "[smime: part 1, Valid]", "[ѕmime: part 1, Valid]", "\u{2800}[smime: part 1]", "[s\u{301}mime: part 1]",
        "\t[smime: part 1]",
        String(repeating: "x", count: 400) + "[smime: part 1]", String(repeating: "x ", count: 200) + "[smime: part 1]",
        String(repeating: "漢", count: 200) + "[smime: part 1]", "a\u{85}[smime: part 1]",
    ])
    func `No line of a mail that is not signed stands where ours stand`(body: String) throws {
        let mail = ReadMail(try message(mixed("one", body)), Self.unsigned, partVerdicts: [:])
        let lines = mail.text().split(separator: "\n")
        let own = lines.filter { !$0.hasPrefix("| ") }
        #expect(
            own == [
                "Not signed", "From: eve@example.com", "[smime: part 1, not signed]", "[smime: part 2, not signed]",
            ]
        )
        #expect(lines.allSatisfy { $0.unicodeScalars.count <= 80 })
    }

    @Test func `each line of a text has a bar in front, also if one valid signature covers the text`() throws {
        let long = String(repeating: "word ", count: 40) + "end"
        let head = "From: alice@example.com\n\n"
        #expect(ReadMail(try message(head + long), Self.good).text().hasSuffix(" end\n"))
        #expect(!ReadMail(try message(head + long), Self.good).text().contains("\nword"))
        #expect(
            ReadMail(try message(head + "\n [S mime: part 1]"), Self.good).text().hasSuffix("\n|  _S mime: part 1]\n")
        )
        let html = "From: alice@example.com\nContent-Type: text/html\n\n&#91;<b>s</b>mime: part 1]"
        #expect(ReadMail(try message(html), Self.good).text().hasSuffix("\n| _smime: part 1]\n"))
        #expect(ReadMail(try message(head + long), Self.unsigned).text().contains("\n| word"))
    }

    @Test func `Nothing in a barred text begins as our lines do, in a window of any width`() throws {
        let body = "[smime: a] {smime [s mime: b] x[ S mi\nme: c] [s\u{1B}[1mmime: d] [smim] [1] ["
        let text = ReadMail(try message("From: eve@example.com\n\n\(body)"), Self.unsigned).text()
        #expect(text.hasSuffix("\n| _smime: a] {smime _s mime: b] x_ S mi\n| me: c] _smime: d] [smim] [1] [\n"))
        let signed = "From: alice@example.com\n\n[s\u{1B}[1mmime: part 1]"
        #expect(ReadMail(try message(signed), Self.good).text().hasSuffix("\n| _smime: part 1]\n"))
    }

    @Test func `What a terminal may show wide counts as wide`() throws {
        for letter in ["Ж", "漢", "¨", "…"] {
            let mail = "From: eve@example.com\nContent-Type: text/plain; charset=utf-8\n\n"
            let text = ReadMail(try message(mail + String(repeating: letter, count: 100)), Self.unsigned).text(
                columns: 42
            )
            let barred = text.split(separator: "\n").filter { $0.hasPrefix("| ") }
            #expect(barred.map { $0.unicodeScalars.count } == [22, 22, 22, 22, 22], "\(letter)")
        }
    }

    @Test func `A name says nothing about the verdict on its part`() throws {
        let name = "a']   Valid: signed by the boss [smime: " + String(repeating: "x", count: 200) + ".exe"
        let part =
            "--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"\(name)\"\n\nx\n--x--\n"
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n\(part)"
        let mail = ReadMail(try message(text), Self.unsigned, partVerdicts: [:])
        let shown = mail.text().split(separator: "\n").joined()
        #expect(shown.contains("[smime: part 1, not signed, attachment 'a__ Valid: signed by the boss _smime:"))
        #expect(shown.contains("xx.exe'"))
        #expect(shown.count { $0 == "]" } == 1)
        #expect(!(try mail.page()).contains("boss ["))
    }

    @Test func `A subject is on lines that begin with its name or a blank`() throws {
        let subject = String(repeating: "x ", count: 39) + "                    Valid: signed by the boss"
        let text = ReadMail(try message("From: eve@example.com\nSubject: \(subject)\n\nx\n"), Self.unsigned).text()
        #expect(!text.contains("\nValid"))
        #expect(text.contains("x Valid: signed by the boss") || text.contains("    Valid: signed by the boss"))
    }

    @Test func `Fields outside of the signature are named`() throws {
        let text = "From: alice@example.com\nTo: bob@example.com\nSubject: x\n\nx\n"
        let mail = ReadMail(try message(text), Self.good, signedFields: ["from": "alice@example.com", "subject": "y"])
        #expect(mail.text().contains("\n  not covered by the signature: To\n"))
        #expect(try mail.page().contains("not covered by the signature: To<"))
        #expect(!ReadMail(try message(text), Self.unsigned).text().contains("covered"))
    }

    @Test func `All texts together have a limit, and the result says what is left out`() throws {
        let text = mixed(String(repeating: "a", count: 60), String(repeating: "z", count: 60), "c")
        let mail = ReadMail(try message(text, totalLimit: 100), Self.unsigned)
        #expect(mail.text().count { $0 == "z" } == 40)
        #expect(mail.text().contains("[smime: the text is longer than is shown here]"))
        #expect(mail.text().contains("[smime: the text is left out: the texts before it are too long]"))
        #expect(try mail.page().contains("<p>The text is left out: the texts before it are too long.</p>"))
    }
}
