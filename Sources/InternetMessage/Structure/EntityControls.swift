import ByteStreams

/// Checks the start of an entity for control characters, which a header does not contain. Noise, the result of decryption with
/// a wrong key, nearly always does.
///
/// Like `EntityStart`, this needs one table look-up for each byte, so it may be used for plaintext that was not verified yet.
package enum EntityControls {
    /// The number of bytes that are checked.
    package static let reach = 256

    /// Whether the header at the start of `head` has no control characters. If it has no fields, the content after the empty
    /// line is checked instead, because it is plain text (RFC 2045 §5.2). TAB, LF, FF, CR and ESC (ISO-2022-JP) are permitted.
    package static func areAbsent(in head: [UInt8]) -> Bool {
        let table = table
        var state = State.start.rawValue
        for byte in head.prefix(reach) { state = table[Int(state) << 8 | Int(byte)] }
        return state != State.no.rawValue
    }

    private enum State: UInt8, CaseIterable {
        case start
        /// In a line of the header.
        case field
        /// At the start of a line after the first one, without and with a carriage return.
        case line, lineReturn
        /// After the header's empty line.
        case body
        /// After a carriage return at the start.
        case startReturn
        /// In content without fields.
        case text
        case no
    }

    private static let table: [UInt8] = State.allCases.flatMap { state in
        (0...UInt8.max).map { next(state, $0).rawValue }
    }

    private static func next(_ state: State, _ byte: UInt8) -> State {
        let isControl = byte < 0x20 && ![0x09, .lineFeed, 0x0C, .carriageReturn, 0x1B].contains(byte) || byte == 0x7F
        return switch (state, byte) {
        case (.body, _): .body
        case (.no, _): .no
        case _ where isControl: .no
        case (.text, _), (.start, .lineFeed), (.startReturn, .lineFeed): .text
        case (.start, .carriageReturn): .startReturn
        case (.line, .lineFeed), (.lineReturn, .lineFeed): .body
        case (.line, .carriageReturn): .lineReturn
        case (_, .lineFeed): .line
        default: .field
        }
    }
}
