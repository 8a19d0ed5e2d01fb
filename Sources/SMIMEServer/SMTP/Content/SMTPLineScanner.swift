import ByteStreams
import InternetMessage

/// Scans the lines of a message's content in pieces of any size. It stops at dots at the start of a line and at violations.
struct SMTPLineScanner: Sendable {
    /// The position of the last byte in its line.
    enum Position: Sendable {
        /// After CRLF, or before the first byte.
        case lineStart
        /// At a dot that is the first byte of its line.
        case dot
        /// At a carriage return after a dot that is the first byte of its line.
        case dotReturn
        /// At any other carriage return.
        case carriageReturn
        /// At a dot after a bare carriage return.
        case returnDot
        /// At a NUL. Only NULs precede it since the line's start, or since a bare carriage return.
        case null
        /// At a dot or a NUL. A server that removes NULs reads a single dot since the line's start, or since a bare carriage
        /// return. If the line begins with a dot that dot-stuffing added, that dot does not count.
        case nullDot
        /// At a NUL. The line begins with a dot, and then has only NULs. If the line ends here, a server that removes NULs
        /// reads a single dot. If another dot follows, that dot remains alone after the first one is removed (dot-stuffing).
        case dotNull
        case text
    }

    /// The reason that the scan stopped.
    enum Stop: Sendable {
        /// All bytes were scanned.
        case exhausted
        /// The byte at this offset is a dot, the first of its line.
        case dot(Int)
        /// The bytes before this offset end a line with a single dot.
        case loneDot(end: Int)
        /// A bare line feed, or a single dot between line ends that are not both CRLF.
        case violation
    }

    private(set) var position = Position.lineStart
    /// Whether there was a line with NULs that a server which removes NULs would interpret as a single dot.
    private(set) var hasHiddenDot = false
    /// Whether a bare carriage return may follow a dot at the start of a line. It is harmless if dots are doubled later.
    let allowsDotReturn: Bool

    init(allowsDotReturn: Bool) { self.allowsDotReturn = allowsDotReturn }

    /// Scans `bytes` from `start` to the next stop.
    mutating func scan(_ bytes: Span<UInt8>, from start: Int) -> Stop {
        var index = start
        while index < bytes.count {
            if position == .text {
                let end = bytes.firstOffset(of: .carriageReturn, from: index) ?? bytes.count
                guard bytes.extracting(index..<end).firstOffset(of: .lineFeed) == nil else { return .violation }
                guard end < bytes.count else { return .exhausted }
                position = .carriageReturn
                index = end + 1
                continue
            }
            let byte = bytes[index]
            index += 1
            switch (position, byte) {
            case (.carriageReturn, .lineFeed): position = .lineStart
            case (.dotReturn, .lineFeed):
                position = .lineStart
                return .loneDot(end: index)
            case (_, .lineFeed), (.returnDot, .carriageReturn): return .violation
            case (.lineStart, .null), (.carriageReturn, .null), (.null, .null): position = .null
            case (.dotReturn, .null) where allowsDotReturn: position = .null
            case (.null, .dot), (.nullDot, .null), (.returnDot, .null): position = .nullDot
            // If dots are doubled later, this dot will be doubled, too, so it is not dangerous.
            case (.dot, .null) where !allowsDotReturn: position = .dotNull
            case (.dotNull, .null): position = .dotNull
            case (.dotNull, .dot): position = .nullDot
            case (.nullDot, .carriageReturn), (.dotNull, .carriageReturn):
                hasHiddenDot = true
                position = .carriageReturn
            case (.lineStart, .dot):
                position = .dot
                return .dot(index - 1)
            case (.dotReturn, _) where !allowsDotReturn: return .violation
            case (.dot, .carriageReturn): position = .dotReturn
            case (.carriageReturn, .dot), (.dotReturn, .dot): position = .returnDot
            case (_, .carriageReturn): position = .carriageReturn
            default: position = .text
            }
        }
        return .exhausted
    }
}

extension UInt8 {
    static let null: UInt8 = 0x00
    static let dot = UInt8(ascii: ".")
}
