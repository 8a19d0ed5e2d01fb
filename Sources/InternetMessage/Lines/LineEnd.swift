import ByteStreams

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
