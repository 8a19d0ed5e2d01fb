package import ByteStreams

/// The line end of a text.
@nonexhaustive
public enum LineEnd: String, Sendable, Hashable {
    case crlf = "\r\n"
    case lf = "\n"

    /// The line end's bytes.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

extension Array<UInt8> {
    /// The text with all line ends replaced by `lineEnd`, as `LineEndReader` does while reading.
    package func withLines(endingIn lineEnd: LineEnd) -> [UInt8] {
        let end = lineEnd.bytes
        var result: [UInt8] = []
        result.reserveCapacity(count + 16)
        for byte in self {
            if byte == .lineFeed {
                if result.last == .carriageReturn { result.removeLast() }
                result += end
            } else {
                result.append(byte)
            }
        }
        return result
    }
}

extension UInt8 {
    /// The upper-case letter, if this is an ASCII letter; otherwise the same byte.
    var uppercased: UInt8 { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") ? self & 0xDF : self }

    /// The lower-case letter, if this is an ASCII letter; otherwise the same byte.
    var lowercased: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without spaces, tabs and line ends at the start and end.
    package func trimmingBlanks() -> Self {
        func isTrimmed(_ byte: UInt8) -> Bool { byte.isBlank || byte == .carriageReturn || byte == .lineFeed }
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes are `text`, ignoring the case of ASCII letters.
    package func equalsIgnoringCase(_ text: String) -> Bool {
        elementsEqual(text.utf8) { $0.lowercased == $1.lowercased }
    }
}

extension String {
    /// Decodes header bytes as UTF-8, or as Latin-1 if they are not valid UTF-8.
    package init(mail bytes: some Collection<UInt8>) {
        self =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}

/// Characters that end a line for some programs, but not in mail: vertical tab, form feed, FS, GS, RS, NEL (U+0085), LS
/// (U+2028) and PS (U+2029).
///
/// RFC 5322 §2.1, UAX #14 (BK, NL)
package enum LineSeparator {
    /// `bytes` divided at line feeds, carriage returns and these characters, without empty pieces.
    ///
    /// A byte 0x85 outside of a UTF-8 character counts as NEL, which it is in ISO 8859-1.
    package static func pieces(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var position = start
        while position < bytes.endIndex {
            let (count, endsLine) = character(at: position, in: bytes)
            if endsLine {
                if start < position { pieces.append(bytes[start..<position]) }
                start = position + count
            }
            position += count
        }
        if start < bytes.endIndex { pieces.append(bytes[start...]) }
        return pieces
    }

    /// Whether `bytes` may contain one of these characters. This is a quick test, because most mail contains none.
    package static func mayOccur(in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { byte in
            switch byte {
            case 0x0B, 0x0C, 0x1C...0x1E, 0x85, 0xA8, 0xA9: true
            default: false
            }
        }
    }

    /// The length of the character at `position` in bytes, and whether the character ends a line. A byte that is not part of
    /// a UTF-8 character is a character of its own.
    private static func character(at position: Int, in bytes: ArraySlice<UInt8>) -> (count: Int, endsLine: Bool) {
        let first = bytes[position]
        guard first >= 0x80 else {
            let endsLine = 0x0A...0x0D ~= first || 0x1C...0x1E ~= first
            return (1, endsLine)
        }
        let rest = bytes[(position + 1)...].prefix(3)
        let count =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        let isCharacter =
            count > 1 && rest.count >= count - 1 && rest.prefix(count - 1).allSatisfy { 0x80...0xBF ~= $0 }
            && isSecond(rest.first, behind: first)
        guard isCharacter else { return (1, first == 0x85) }
        let tail = Array(rest.prefix(count - 1))
        let isSeparator =
            first == 0xC2 && tail == [0x85] || first == 0xE2 && (tail == [0x80, 0xA8] || tail == [0x80, 0xA9])
        return (count, isSeparator)
    }

    /// Whether `second` may follow `first` in a UTF-8 character: overlong forms and surrogates are not allowed (RFC 3629 §4).
    private static func isSecond(_ second: UInt8?, behind first: UInt8) -> Bool {
        guard let second else { return false }
        return switch first {
        case 0xE0: second >= 0xA0
        case 0xED: second <= 0x9F
        case 0xF0: second >= 0x90
        case 0xF4: second <= 0x8F
        default: true
        }
    }
}

/// Finds defects of received lines that are no longer visible in canonical form.
///
/// The caller passes all bytes in order, in windows of any size.
package final class LineEndDefects {
    private var bareLF = false
    private var bareCR = false
    private var hasNUL = false
    private var hasCRLF = false
    private var endsInReturn = false

    package init() {}

    /// The defects found so far. A bare LF is a defect only if other lines end in CRLF, because files normally have LF
    /// everywhere.
    package var defects: Set<MIMEDefect> {
        var defects: Set<MIMEDefect> = []
        if bareLF, hasCRLF { defects.insert(.bareLF) }
        if bareCR || endsInReturn { defects.insert(.bareCR) }
        if hasNUL { defects.insert(.nul) }
        return defects
    }

    /// Checks the next bytes.
    package func scan(_ bytes: Span<UInt8>) {
        guard let first = bytes.first else { return }
        if !hasNUL { hasNUL = bytes.firstOffset(of: 0) != nil }
        if endsInReturn, first != .lineFeed { bareCR = true }
        var position = 0
        while !(bareLF && hasCRLF), let feed = bytes.firstOffset(of: .lineFeed, from: position) {
            let followsReturn = feed > 0 ? bytes[feed - 1] == .carriageReturn : endsInReturn
            if followsReturn { hasCRLF = true } else { bareLF = true }
            position = feed + 1
        }
        position = 0
        while !bareCR, let found = bytes.firstOffset(of: .carriageReturn, from: position), found + 1 < bytes.count {
            if bytes[found + 1] != .lineFeed { bareCR = true }
            position = found + 1
        }
        endsInReturn = bytes.last == .carriageReturn
    }

    /// A reader that returns the bytes of `reader` and checks them.
    package func watching(_ reader: any ByteReader) -> any ByteReader { WatchedReader(reader, self) }
}

private final class WatchedReader: ByteReader {
    private let upstream: any ByteReader
    private let defects: LineEndDefects

    init(_ upstream: any ByteReader, _ defects: LineEndDefects) {
        self.upstream = upstream
        self.defects = defects
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        let count = try upstream.read(into: &buffer)
        defects.scan(buffer.octets.extracting(first: count))
        return count
    }
}
