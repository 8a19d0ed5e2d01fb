import ByteStreams
import InternetMessage
import TestSupport
import Testing

@Suite struct MboxReaderTests {
    private static let mark = "From alice@example.com Sat Nov 21 02:40:42 2026"

    @Test(arguments: ["\n", "\r\n"])
    func `messages begin at a From line after an empty line`(_ end: String) throws {
        let one = [Self.mark, "Subject: one", "", "body", "", ""].joined(separator: end)
        let two = ["From - Sat Nov 21 02:40:42 2026", "Subject: two", "", ""].joined(separator: end)
        #expect(try messages(one + two + two) == [one, two, two])
    }

    @Test(
        arguments: [
            "From what I heard at 10:30, it rains", "From 2026 on", "From me", ">\(MboxReaderTests.mark)",
            "from alice@example.com Sat Nov 21 02:40:42 2026", " \(MboxReaderTests.mark)",
        ]
    )
    func `text and quoted From lines begin no message`(_ line: String) throws {
        let mailbox = Self.mark + "\nSubject: one\n\nbody\n\n\(line)\nmore\n"
        #expect(try messages(mailbox) == [mailbox])
    }

    @Test func `a From line within a paragraph begins no message`() throws {
        let mailbox = Self.mark + "\nSubject: one\n\nbody\n\(Self.mark)\nmore\n"
        #expect(try messages(mailbox) == [mailbox])
    }

    @Test func `messages are found across the windows of a large file`() throws {
        let line = String(repeating: "x", count: 70) + "\n"
        let large = Self.mark + "\n\n" + String(repeating: line, count: 4_000) + "\n"
        let odd = Self.mark + "\n\n" + String(repeating: "y", count: Window.size - 66) + "\n\n"
        let all = [large, odd, odd, large, large]
        #expect(try messages(all.joined()) == all)
    }

    @Test(arguments: ["", "Subject: a mail\n\nFrom x 02:40 2026", "From ", "\n"])
    func `a file that does not begin with a From line is no mailbox`(_ text: String) throws {
        #expect(try !MboxReader.isMbox(MemorySource(Array(text.utf8))))
    }

    private func messages(_ text: String) throws -> [String] {
        let source = MemorySource(Array(text.utf8))
        #expect(try MboxReader.isMbox(source))
        var reader = MboxReader(source)
        var messages: [String] = []
        while let range = try reader.next() {
            messages.append(String(decoding: source.bytes[range], as: UTF8.self))
        }
        return messages
    }
}

@Suite struct MboxQuotingTests {
    @Test(
        arguments: [
            ("a\n>From b\n", "a\nFrom b\n"), (">From b", "From b"), ("a\r\n>>From b\r\n", "a\r\n>From b\r\n"),
            ("a\n>From b\n>>>From c\n> From d\n>Fro\n>\n", "a\nFrom b\n>>From c\n> From d\n>Fro\n>\n"),
            (">>F\n>From >From\n", ">>F\nFrom >From\n"), (">From \n>From ", "From \nFrom "),
            (">>>>\n>>>>From x\n>>>", ">>>>\n>>>From x\n>>>"), (">>Fr>From \n>From ", ">>Fr>From \nFrom "),
        ]
    )
    func `one quotation mark is removed from every quoted From line`(quoted: String, plain: String) throws {
        let undone = try #require(try MboxQuoting.undone(in: MemorySource(Array(quoted.utf8))))
        #expect(String(decoding: try undone.bytes(in: 0..<undone.count), as: UTF8.self) == plain)
    }

    @Test(arguments: ["", "a", "From b\n", "a >From b\n", ">Fro", "> From b\n", ">FROM b\n", ">From", "> >From b\n"])
    func `lines that are not quoted stay unchanged`(_ text: String) throws {
        #expect(try MboxQuoting.undone(in: MemorySource(Array(text.utf8)))?.count == nil)
    }

    @Test func `quoted From lines are found across windows`() throws {
        let line = String(repeating: "x", count: Window.size - 4)
        for gap in 0..<12 {
            let head = line.dropFirst(gap) + "\n"
            let quoted = "\(head)>>From y\n\(line)"
            let undone = try #require(try MboxQuoting.undone(in: MemorySource(Array(quoted.utf8))))
            #expect(try undone.bytes(in: 0..<undone.count) == Array("\(head)>From y\n\(line)".utf8))
        }
    }
}
