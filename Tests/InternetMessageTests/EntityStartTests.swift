import InternetMessage
import Testing

@Suite struct EntityStartTests {
    private static let pieces: [[UInt8]] =
        ["From ", "From", ">From ", ">", " ", ":", "\r", "\n", "a", "\u{FEFF}"].map(\.bytes) + [[0x80]]

    @Test(arguments: pieces)
    func `the quick check for a header agrees with the header parser`(first: [UInt8]) throws {
        for second in Self.pieces {
            for third in Self.pieces {
                for fourth in Self.pieces {
                    for head in [first, first + second, first + second + third, first + second + third + fourth] {
                        let hasFields = try !HeaderBlock(parsing: head).fields.isEmpty
                        let isEntity = hasFields || head.starts(with: "\n".bytes) || head.starts(with: "\r\n".bytes)
                        #expect(EntityStart.canBegin(with: head) == isEntity, "\(head)")
                    }
                }
            }
        }
    }

    @Test func `empty input is an entity`() { #expect(EntityStart.canBegin(with: [])) }

    @Test func `a header field beyond the searched range does not count`() {
        let line = "From x" + String(repeating: "x", count: EntityStart.examinedCount - 8) + "\n"
        #expect(EntityStart.canBegin(with: (line.dropFirst(3) + "A:").bytes) == false)
        #expect(EntityStart.canBegin(with: (line.replacing("xxx", with: "", maxReplacements: 1) + "A:").bytes))
        #expect(EntityStart.canBegin(with: (line + "A:").bytes) == false)
    }
}
