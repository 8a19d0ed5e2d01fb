import ByteStreams
import SMIME
import TestSupport
import Testing

@Suite struct CleanTextTests {
    /// A reference implementation that checks the scalars of Swift's UTF-8 decoding.
    private static func isClean(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            [9, 10, 12, 13].contains(scalar.value) || !(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value))
        }
    }

    private static func judged(_ bytes: [UInt8], inWindowsOf count: Int) -> Bool {
        var text = CleanText()
        for start in stride(from: 0, to: bytes.count, by: count) {
            text.scan(bytes.octets.extracting(start..<min(start + count, bytes.count)))
        }
        return text.isClean
    }

    /// The first and last bytes of the ranges in RFC 3629 §4 and of the control characters.
    private static let edges: [UInt8] = [
        0, 8, 9, 10, 11, 12, 13, 14, 0x1F, 0x20, 0x41, 0x7E, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
        0xC3, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]

    @Test func `text detection is right for short sequences at the edges of UTF-8 ranges`() {
        var wrong: [[UInt8]] = []
        for one in Self.edges {
            for two in Self.edges {
                for three in Self.edges {
                    for bytes in [[one], [one, two], [one, two, three], [0xF1, one, two, three]] {
                        // The sequence is on the border of two blocks.
                        let text = Array(repeating: 0x41, count: 30) + bytes
                        if Self.judged(text, inWindowsOf: 40) != Self.isClean(text) { wrong.append(text) }
                    }
                }
            }
        }
        #expect(wrong == [])
    }

    @Test func `text detection finds one odd byte in windows of any size`() {
        var generator = SeededGenerator(15)
        let samples = ["grüße ", "plain\r\n", "\t€ ", "𝒳\u{C}", "é"]
        for _ in 0..<2_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &generator)).flatMap { _ in
                Array(samples.randomElement(using: &generator, default: "").utf8)
            }
            if Bool.random(using: &generator), !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(min(bytes.count, 1)) }
            let window = Int.random(in: 1...120, using: &generator)
            #expect(Self.judged(bytes, inWindowsOf: window) == Self.isClean(bytes), "\(bytes) by \(window)")
        }
    }

    @Test func `random bytes are not clean text`() {
        var generator = SeededGenerator(3)
        var passed = 0
        for _ in 0..<20_000 {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if Self.judged(bytes, inWindowsOf: 16) { passed += 1 }
        }
        #expect(passed == 0)
    }
}

extension Collection {
    fileprivate func randomElement(using generator: inout SeededGenerator, default value: Element) -> Element {
        randomElement(using: &generator) ?? value
    }
}
