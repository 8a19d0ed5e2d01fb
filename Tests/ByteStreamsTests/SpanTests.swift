import ByteStreams
import Testing

@Suite struct SpanTests {
    private let text = Array("one - two -- three".utf8)

    @Test func `a byte is found at or after a place`() {
        let hyphen = UInt8(ascii: "-")
        #expect(text.octets.firstOffset(of: hyphen) == 4)
        #expect(text.octets.firstOffset(of: hyphen, from: 4) == 4)
        #expect(text.octets.firstOffset(of: hyphen, from: 5) == 10)
        #expect(text.octets.firstOffset(of: hyphen, from: 12) == nil)
        #expect(text.octets.firstOffset(of: hyphen, from: text.count) == nil)
        #expect([UInt8]().octets.firstOffset(of: hyphen) == nil)
    }

    @Test func `a word is compared where it stands, and never past the end`() {
        let two = Array("two".utf8)
        let isThere = [0, 6, text.count - 2, text.count + 5].map { text.octets.has(two, at: $0) }
        #expect(isThere == [false, true, false, false])
        let hasNothing = text.octets.has([], at: text.count)
        #expect(hasNothing)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 31]) func `one byte above 127 is seen wherever it stands`(count: Int) {
        var bytes = [UInt8](repeating: 127, count: count)
        let before = bytes.octets.has8Bit
        #expect(!before)
        for index in 0..<count {
            bytes[index] = 128
            let isSeen = bytes.octets.has8Bit
            #expect(isSeen, "\(index)")
            bytes[index] = 127
        }
    }

    @Test func `eight bytes are a word, the first in the low byte`() {
        let bytes: [UInt8] = [9, 1, 2, 3, 4, 5, 6, 7, 8]
        let word = bytes.octets.word(at: 1)
        #expect(word == 0x0807_0605_0403_0201)
    }

    @Test func `first and last are those of the bytes`() {
        let ends = [text.octets.first, text.octets.last, [UInt8]().octets.first, [UInt8]().octets.last]
        #expect(ends == [UInt8(ascii: "o"), UInt8(ascii: "e"), nil, nil])
    }

    @Test func `pieces are written in their place`() {
        var bytes: [UInt8] = [0, 0, 0, 0, 0]
        let source: [UInt8] = [1, 2]
        var span = bytes.mutableOctets
        let count = span.copy(source.octets, at: 3)
        var piece = span.piece(1..<3)
        piece[0] = 9
        piece.copy([UInt8]().octets, at: 2)
        #expect(count == 2)
        #expect(bytes == [0, 9, 0, 1, 2])
    }

    @Test func `a window is filled in part, and moves what is left to its front`() throws {
        let (window, source) = (Window(size: 8), MemorySource(Array(1...20)))
        let reader = source.reader()
        #expect(try window.fill(from: reader) == 8)
        #expect(try window.fill(6..<8, from: reader) == 2)
        #expect(Array(window[4..<8]) == [5, 6, 9, 10])
        window.moveToFront(5..<8)
        #expect(Array(window.prefix(3)) == [6, 9, 10])
        #expect(try window.fill(0..<2, from: source, at: 19) == 1)
        #expect(window[0] == 20)
    }

    @Test func `an integer is written with its highest byte first`() {
        #expect(UInt32(0x0102_0304).bigEndianBytes == [1, 2, 3, 4])
        #expect(Int64(-2).bigEndianBytes == [255, 255, 255, 255, 255, 255, 255, 254])
        #expect(UInt8(7).bigEndianBytes == [7])
    }
}
