import ByteStreams

/// How lines end.
public enum LineEnd: String, Sendable, Hashable {
    case crlf = "\r\n"
    case lf = "\n"

    /// The line end's bytes.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

extension Array<UInt8> {
    /// The same lines with another end, as `LineEndReader` gives them of what is read.
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
    /// The same letter in lower case, if it is an ASCII letter.
    var lowercased: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// What remains without spaces, tabs and line ends at both ends.
    package func trimmingBlanks() -> Self {
        func isTrimmed(_ byte: UInt8) -> Bool { byte.isBlank || byte == .carriageReturn || byte == .lineFeed }
        var rest = drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}

extension Sequence<UInt8> {
    /// Whether these bytes spell `text`, ASCII letters of either case alike.
    package func equalsIgnoringCase(_ text: String) -> Bool {
        elementsEqual(text.utf8) { $0.lowercased == $1.lowercased }
    }
}

extension String {
    /// Header bytes as text: UTF-8, or Latin-1 where they are no UTF-8.
    package init(mail bytes: some Collection<UInt8>) {
        self =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}
