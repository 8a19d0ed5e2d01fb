package import ByteStreams

/// Reads the structure of messages: one pass, no copies, no recursion.
///
/// RFC 2046 §5.1
package enum MIMEReader {
    /// Reads the structure of the message in `source`, or in a range of it.
    ///
    /// An embedded message is a part without children; `Entity.embeddedMessage(in:)` reads it.
    ///
    /// - Throws: `MIMEError.limitExceeded`, `MIMEError.unreadable`
    package static func message(in source: any ByteSource, range: Range<Int>? = nil) throws(MIMEError) -> Entity {
        let whole = 0..<source.count
        var structure = StructureScan(source, in: range?.clamped(to: whole) ?? whole)
        return try structure.run()
    }

    /// Reads the structure of the message in `source`; nil if the message exceeds a limit.
    ///
    /// - Throws: `MIMEError.unreadable`
    package static func messageWithinLimits(in source: any ByteSource) throws(MIMEError) -> Entity? {
        do throws(MIMEError) { return try message(in: source) } catch {
            if case .unreadable = error { throw error }
            return nil
        }
    }

    /// Reads the structure of the message in `source`, which is `message` with other header fields.
    ///
    /// If the fields about the content are unchanged, only the header is read: the parts are where they were, counted from
    /// the end of the header. Otherwise the whole message is read.
    ///
    /// - Parameter message: the structure of the whole message whose header was replaced.
    /// - Throws: the errors of `message(in:range:)`
    package static func message(in source: any ByteSource, afterChangeTo message: Entity) throws(MIMEError)
        -> Entity
    {
        let header = try HeaderBlock(reading: source, from: 0, to: source.count) { _ in false }
        let distance = source.count - message.range.upperBound
        let (old, new) = (message.header.moved(by: distance).separatorRange, header.separatorRange)
        guard message.range.lowerBound == 0, old == new,
            contentFields(of: header) == contentFields(of: message.header)
        else { return try self.message(in: source) }
        let changed = message.replacing(header: header, longerBy: distance)
        guard changed.headerCount <= MIMELimit.totalHeaderBytes.rawValue else {
            throw .limitExceeded(.totalHeaderBytes)
        }
        return changed
    }

    /// The fields on which the structure of the body depends.
    private static func contentFields(of header: HeaderBlock) -> [[UInt8]] {
        (header.all("Content-Type") + header.all("Content-Transfer-Encoding")).map { Array($0.rawBytes) }
    }
}

extension Entity {
    /// The embedded message in this part; nil if the part is not a message or its bytes are encoded.
    ///
    /// - Throws: the errors of `MIMEReader.message(in:range:)`
    package func embeddedMessage(in source: any ByteSource) throws(MIMEError) -> Entity? {
        guard contentType.isMessage, transferEncoding.isIdentity else { return nil }
        return try MIMEReader.message(in: source, range: bodyRange)
    }
}

/// Checks whether bytes can be the start of a MIME entity: a header field, or the empty line.
///
/// `HeaderBlock` could check this as well, but in a time that depends on the bytes. This type needs one table look-up for
/// each byte, so it may be used for plaintext that was not verified yet.
package enum EntityStart {
    /// The number of bytes in which the name of the first header field must end, including a byte order mark and the From
    /// line of an mbox file before it.
    package static let examinedCount = 4096

    /// Whether `head`, the first bytes of the content, may begin an entity. Empty content may, too.
    package static func canBegin(with head: [UInt8]) -> Bool {
        let table = table
        var state = State.start.rawValue
        for byte in head.prefix(examinedCount) { state = table[Int(state) << 8 | Int(byte)] }
        return state == State.yes.rawValue || head.isEmpty
    }

    /// The position in the possible start of an entity.
    private enum State: UInt8, CaseIterable {
        /// At the start. Only here a byte order mark or an empty line may follow.
        case start
        /// After a carriage return that may belong to the empty line.
        case emptyLine
        case mark1, mark2
        /// At the start of the first line, after a byte order mark.
        case top
        /// After `F`, `Fr`, `Fro` or `From`, which may begin the From line of an mbox file or the name of a field.
        case f, fr, fro, from
        /// In blanks after `From`. The colon of a field may still follow.
        case fromBlank
        /// After a greater-than sign, and after `>F` to `>From`.
        case quote, quoteF, quoteFr, quoteFro, quoteFrom
        /// In the From line of an mbox file, whose content does not matter.
        case mboxLine
        /// At the start of the line after the From line.
        case line
        /// In a field's name, or in the blanks between the name and the colon (RFC 5322 §4.5).
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
        case (.quoteFrom, UInt8(ascii: " ")): .mboxLine
        case (.fromBlank, UInt8(ascii: ":")): .yes
        case (.fromBlank, _) where byte.isBlank: .fromBlank
        case (.fromBlank, .lineFeed), (.mboxLine, .lineFeed): .line
        case (.fromBlank, _), (.mboxLine, _): .mboxLine
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
