import ByteStreams
import Foundation
import InternetMessage
import TestSupport
import Testing

@Suite struct LineEndTests {
    /// A reference implementation that works byte by byte.
    private func converted(_ bytes: [UInt8], to lineEnd: LineEnd, exempt: [Range<Int>]) -> [UInt8] {
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isText = !exempt.contains { $0.contains(index) }
            let previous = index > 0 && !exempt.contains { $0.contains(index - 1) } ? bytes[index - 1] : nil
            let next = index + 1 < bytes.count && !exempt.contains { $0.contains(index + 1) } ? bytes[index + 1] : nil
            if isText, byte == 10, lineEnd == .crlf, previous != 13 { result.append(13) }
            if isText, byte == 13, lineEnd == .lf, next == 10 { continue }
            result.append(byte)
        }
        return result
    }

    @Test(arguments: [LineEnd.crlf, .lf], 0..<40)
    func `line ends are converted in windows of any size, except in binary parts`(lineEnd: LineEnd, seed: Int) throws {
        var generator = SeededGenerator(seed)
        let alphabet: [UInt8] = [10, 13, 10, 13, 65, 66]
        for _ in 0..<20 {
            let count = Int.random(in: 0...300, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let cuts = (0..<4).map { _ in Int.random(in: 0...count, using: &generator) }.sorted()
            let exempt =
                seed % 2 == 0
                ? []
                : [cuts[0]..<cuts[1], cuts[2]..<cuts[3]].filter { $0.lowerBound != cuts[1] || $0 == cuts[0]..<cuts[1] }
            let expected = converted(bytes, to: lineEnd, exempt: exempt)
            let slow = SlowSource(bytes: bytes, step: Int.random(in: 1...9, using: &generator))
            let reader = LineEndReader(slow.reader(), lineEnd: lineEnd, exempt: exempt)
            #expect(try reader.allInPieces(&generator) == expected)
            #expect(try MemorySource(bytes).stream().lines(endingIn: lineEnd, exempt: exempt).all() == expected)
        }
    }

    @Test(arguments: 0..<40)
    func `line statistics are the same in windows of any size`(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let pieces = ["\r\n", "\n", "\r", "From ", "F", ".", " ", "\t", "x", "long line ", "\0", "é"].map(\.bytes)
        for _ in 0..<20 {
            let common = Array(pieces.prefix(Int.random(in: 1...pieces.count, using: &generator)))
            let bytes = (0..<60).flatMap { _ in common.randomElement(using: &generator) ?? [] }
            let whole = try LineStatistics(of: MemorySource(bytes).reader())
            for step in [1, 2, 7] {
                #expect(try LineStatistics(of: SlowSource(bytes: bytes, step: step).reader()) == whole)
            }
        }
    }

    @Test func `binary parts are never converted`() throws {
        let text = """
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Transfer-Encoding: binary

            a\nb\r\nc
            --b

            d
            --b--

            """
        let (entity, source) = try parse(text.bytes)
        let canonical = try entity.canonicalStream(of: source).all()
        #expect(canonical.text.contains("\r\n\r\na\nb\r\nc\r\n--b\r\n\r\nd\r\n--b--\r\n"))
        let (again, canonicalSource) = try parse(canonical)
        #expect(try again.stream(of: canonicalSource, lineEnd: .lf).all() == text.bytes)
    }

    @Test func `line statistics count what transports would change`() throws {
        let text =
            "From here\r\n.\r\ntrailing \r\nbare\rcr\nlf\n\u{0}é\r\n" + String(repeating: "x", count: 1_000) + "\t"
        for step in [1, 2, 3, 5, 4_096] {
            let statistics = try LineStatistics(of: SlowSource(bytes: text.bytes, step: step).reader())
            #expect((statistics.crlf, statistics.bareLF, statistics.bareCR) == (4, 2, 1))
            #expect(statistics.longestLine == 1_001)
            #expect(statistics.hasNUL && statistics.has8Bit && !statistics.isTransportSafe)
            #expect((statistics.trailingBlanks, statistics.mboxLines, statistics.loneDots) == (2, 1, 1))
            #expect(statistics.lineEnd == .crlf)
        }
    }

    @Test(arguments: [
        ("a\r\n", true), ("", true), ("..\r\n. x\r\nFrom\r\n>From x\r\n", true), ("é", false), ("a \r\n", false),
        ("a\t", false),
        (".", false), ("From x", false), ("a\rb", false), ("a\r\r\n", false), ("\u{0}", false), (" \r\n", false),
    ])
    func `text that every transport leaves unchanged is transport-safe`(text: String, isSafe: Bool) throws {
        #expect(try LineStatistics(of: MemorySource(text.bytes).reader()).isTransportSafe == isSafe)
    }

    @Test func `lines up to 998 bytes are transport-safe`() throws {
        for (count, isSafe) in [(998, true), (999, false)] {
            let line = String(repeating: "x", count: count) + "\r\n"
            #expect(try LineStatistics(of: MemorySource(line.bytes).reader()).isTransportSafe == isSafe)
        }
    }
}

@Suite struct QuotedPrintableTests {
    private func decode(_ text: String) throws -> (String, isMalformed: Bool) {
        let decoder = QuotedPrintableDecoder(MemorySource(text.bytes).reader())
        return (try decoder.all().text, decoder.isMalformed)
    }

    @Test(arguments: [
        ("a=3Db=\r\nc", "a=bc"), ("a  \r\nb\t\n", "a\r\nb\n"), ("a= \t\r\nb", "ab"), ("a=", "a"), ("a  ", "a"),
        ("=c3=a9", "é"),
        ("a\rb", "a\rb"), ("a =20\r\n", "a  \r\n"),
    ])
    func `quoted-printable text is decoded`(text: String, expected: String) throws {
        let (decoded, isMalformed) = try decode(text)
        #expect(decoded == expected)
        #expect(!isMalformed)
    }

    @Test(arguments: ["=x", "=4", "=4x", "= x", "=\rx", "==41"])
    func `a malformed escape is kept and is a defect`(text: String) throws {
        let (decoded, isMalformed) = try decode(text)
        #expect(decoded == (text == "==41" ? "=A" : text))
        #expect(isMalformed)
    }

    @Test func `a flood of blanks in quoted-printable takes no memory`() throws {
        let source = MemorySource([UInt8](repeating: 32, count: 3_000_000))
        let sink = CountingSink()
        try QuotedPrintableDecoder(source.reader()).copy(to: sink)
        #expect(sink.count > 2_900_000)
    }
}
