import ByteStreams

/// Whether bytes can be the start of a MIME entity: a header field, or the empty line.
///
/// `HeaderBlock` finds out the same, but in a time that depends on the bytes. This takes one table look-up for each
/// byte, and so may read plaintext that was not verified yet.
package enum EntityStart {
    /// The number of bytes in which the first header field must begin, after a byte order mark and a From line of a mailbox.
    package static let reach = 4096

    /// Whether `head`, the first bytes of something, may begin an entity. Nothing at all is one, too.
    package static func isThere(in head: [UInt8]) -> Bool {
        let table = table
        var state = State.start.rawValue
        for byte in head.prefix(reach) { state = table[Int(state) << 8 | Int(byte)] }
        return state == State.yes.rawValue || head.isEmpty
    }

    /// How much of the possible start was read.
    private enum State: UInt8, CaseIterable {
        /// Nothing yet; only here a byte order mark or an empty line may follow.
        case start
        /// A carriage return that may be that of the empty line.
        case emptyLine
        case mark1, mark2
        /// The start of the first line, behind a byte order mark.
        case top
        /// `F`, `Fr`, `Fro`, `From`: of a mailbox's line, or of a field's name.
        case f, fr, fro, from
        /// Blanks behind `From`, which the colon of a field may still follow.
        case fromBlank
        /// The same with a greater-than sign before it.
        case quote, quoteF, quoteFr, quoteFro, quoteFrom
        /// In a mailbox's From line, which decides nothing.
        case mailbox
        /// The start of the line behind that.
        case line
        /// In a field's name, and in the blanks between it and the colon (RFC 5322 §4.5).
        case name, nameBlank
        case yes, no
    }

    private static let table: [UInt8] = State.allCases.flatMap { state in
        (0...UInt8.max).map { next(state, $0).rawValue }
    }

    private static func next(_ state: State, _ byte: UInt8) -> State {
        switch (state, byte) {
        case (.yes, _), (.start, .lineFeed), (.emptyLine, .lineFeed): .yes
        case (.start, .carriageReturn): .emptyLine
        case (.start, 0xEF): .mark1
        case (.mark1, 0xBB): .mark2
        case (.mark2, 0xBF): .top
        case (.no, _), (.emptyLine, _), (.mark1, _), (.mark2, _): .no
        case (.start, UInt8(ascii: "F")), (.top, UInt8(ascii: "F")): .f
        case (.f, UInt8(ascii: "r")): .fr
        case (.fr, UInt8(ascii: "o")): .fro
        case (.fro, UInt8(ascii: "m")): .from
        case (.from, UInt8(ascii: " ")): .fromBlank
        case (.start, UInt8(ascii: ">")), (.top, UInt8(ascii: ">")): .quote
        case (.quote, UInt8(ascii: "F")): .quoteF
        case (.quoteF, UInt8(ascii: "r")): .quoteFr
        case (.quoteFr, UInt8(ascii: "o")): .quoteFro
        case (.quoteFro, UInt8(ascii: "m")): .quoteFrom
        case (.quoteFrom, UInt8(ascii: " ")): .mailbox
        case (.fromBlank, UInt8(ascii: ":")): .yes
        case (.fromBlank, _) where byte.isBlank: .fromBlank
        case (.fromBlank, .lineFeed), (.mailbox, .lineFeed): .line
        case (.fromBlank, _), (.mailbox, _): .mailbox
        case (.start, UInt8(ascii: ":")), (.top, UInt8(ascii: ":")), (.line, UInt8(ascii: ":")): .no
        case (_, UInt8(ascii: ":")): .yes
        case (.start, _) where byte.isBlank, (.top, _) where byte.isBlank, (.line, _) where byte.isBlank: .no
        case (_, _) where byte.isBlank: .nameBlank
        case (.nameBlank, _): .no
        case (_, 33...126): .name
        default: .no
        }
    }
}
