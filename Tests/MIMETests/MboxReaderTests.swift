import MIME
import Streams
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
    func `prose and quoted lines begin no message`(_ line: String) throws {
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
    func `what does not begin with a From line is no mailbox`(_ text: String) throws {
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
