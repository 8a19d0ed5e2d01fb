import InternetMessage

/// Follows the lines of a message's content over pieces of any size, and stops at dots that matter and at what is not allowed.
struct SMTPLineScanner: Sendable {
    /// Where in a line the last byte was.
    enum Position: Sendable {
        /// Behind CRLF, or before the first byte.
        case lineStart
        /// A dot, the first byte of its line.
        case dot
        /// Such a dot, and a carriage return.
        case dotReturn
        /// A carriage return elsewhere.
        case carriageReturn
        /// A dot behind a bare carriage return.
        case returnDot
        case text
    }

    /// Why the scan stopped.
    enum Stop: Sendable {
        /// All bytes were looked at.
        case exhausted
        /// The byte at this offset is a dot, the first of its line.
        case dot(Int)
        /// The bytes before this offset are a line that is a dot alone.
        case loneDot(end: Int)
        /// A bare line feed, or a lone dot between line ends that are not both CRLF.
        case violation
    }

    private(set) var position = Position.lineStart
    /// Whether a dot at the start of a line may stand before a bare carriage return: it is harmless where dots are stuffed later.
    let allowsDotReturn: Bool

    init(allowsDotReturn: Bool) { self.allowsDotReturn = allowsDotReturn }

    /// Looks at `bytes` from `start` to the next stop.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Stop {
        var index = start
        while index < bytes.count {
            if position == .text {
                let end = bytes.firstOffset(of: .carriageReturn, from: index) ?? bytes.count
                guard UnsafeRawBufferPointer(rebasing: bytes[..<end]).firstOffset(of: .lineFeed, from: index) == nil
                else { return .violation }
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
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let dot = UInt8(ascii: ".")
}
