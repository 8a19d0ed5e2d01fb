import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent

/// A request for protection, or a list of hidden recipients, that only some programs find in a message, because they divide the
/// header into other fields, or end it at another line.
///
/// The gateway does not see such a field, so it neither does what the field requests nor removes it.
enum HiddenRequest {
    /// The number of bytes after the header that are searched.
    private static let searched = 1 << 16

    /// Whether there is such a field in the message with `header`.
    ///
    /// - Throws: the errors of `SubjectTags.read`, and errors of reading.
    static func isThere(in source: any ByteSource, _ header: HeaderBlock, tags: SubjectTags) throws -> Bool {
        let known = try source.bytes(in: header.range)
        // Some programs end the header elsewhere only if it has no empty line, or one with another line end.
        let isOpen = header.defects.contains(.missingHeaderEnd) || header.separator != header.lineEnd.bytes
        let isDivided =
            !header.defects.isDisjoint(with: [.bareCR, .hiddenFields, .nul]) || LineSeparator.mayOccur(in: known[...])
        guard isOpen || isDivided else { return false }
        var text = known
        if isOpen {
            let start = header.separatorRange.upperBound
            let behind = try source.bytes(in: start..<max(start, min(source.count, start + searched)))
            text += behind[..<(endOfParagraph(in: behind) ?? behind.count)]
        }
        // What the most lenient program may read: lines end at any character that ends one, and a line that is neither a field
        // nor a continuation is skipped.
        let lines = LineSeparator.pieces(of: text[...]).filter { isField($0) || $0.first?.isBlank == true }
        guard let all = try? HeaderBlock(parsing: Array(lines.joined(separator: [10])) + [10, 10]) else { return true }
        var seen = try requests(in: header, tags)
        return try requests(in: all, tags).contains { request in
            // A lenient program may end the value of a field earlier.
            guard let index = seen.firstIndex(where: { $0.starts(with: request) }) else { return true }
            seen.remove(at: index)
            return false
        }
    }

    /// The values of such fields, reduced to visible ASCII characters: programs differ on which other characters end a line.
    private static func requests(in header: HeaderBlock, _ tags: SubjectTags) throws -> [[UInt8]] {
        try header.fields.filter { field in
            if field.isNamed("X-SMIME") || field.namesHiddenRecipients { return true }
            return try field.isNamed("Subject") && tags.read(field, lineEnd: header.lineEnd, mayLower: true) != nil
        }.map { $0.value.utf8.filter { 0x21...0x7E ~= $0 } }
    }

    /// The offset of the first empty line; nil if there is none.
    private static func endOfParagraph(in bytes: [UInt8]) -> Int? {
        var isAtStart = true
        for (index, byte) in bytes.enumerated() {
            if byte == .lineFeed, isAtStart { return index }
            isAtStart = byte == .lineFeed || isAtStart && byte == .carriageReturn
        }
        return nil
    }

    /// Whether a line begins with a field's name and a colon, maybe with blanks between them.
    private static func isField(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = line[..<colon].reversed().drop { $0.isBlank }
        return !name.isEmpty && name.allSatisfy { 0x21...0x7E ~= $0 }
    }
}
