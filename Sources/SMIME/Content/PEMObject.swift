package import ByteStreams
import InternetMessage
import PKIX

/// A CMS object in PEM (RFC 7468 §9), of any size. Text may precede and follow the PEM block (§5.2).
package enum PEMObject {
    /// A block is found only if it begins in the first bytes of the source; this is their number.
    private static let searched = 1 << 20
    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    /// gpgsm writes the last two labels.
    private static let labels = ["CMS", "PKCS7", "PKCS #7 SIGNED DATA", "SIGNED MESSAGE", "ENCRYPTED MESSAGE"]

    /// The BEGIN line of a block.
    private struct Mark {
        let label: String
        /// The start of the BEGIN line.
        let start: Int
        /// The start of the line after the BEGIN line.
        let bodyStart: Int
    }

    /// Whether `source` is a CMS object in PEM. A mail that contains a PEM block is not, even if other text precedes the
    /// mail's fields.
    ///
    /// - Parameter others: whether the result is also true for any other PEM block at the start of `source`, even a
    ///   malformed one.
    package static func isThere(in source: any ByteSource, orOthers others: Bool = false) throws -> Bool {
        let head = try head(of: source)
        guard let mark = mark(in: head) else { return others && head.starts(with: begin) }
        guard labels.contains(mark.label) || others && mark.start == 0 else { return false }
        return try !isInMail(mark, head, source)
    }

    /// Whether `source` contains a PEM block, and some program may nevertheless read `source` as a mail.
    package static func isInMail(_ source: any ByteSource) throws -> Bool {
        let head = try head(of: source)
        guard let mark = mark(in: head) else { return false }
        return try isInMail(mark, head, source)
    }

    private static func isInMail(_ mark: Mark, _ head: [UInt8], _ source: any ByteSource) throws -> Bool {
        let text = head[..<mark.start]
        if text.beginsWithMboxLine || HeaderBlock.mayContainField(named: HeaderBlock.mailFields, in: text) {
            return true
        }
        // For programs that skip lines that are not fields, the lines after the block are part of the header, too.
        guard let end = try hyphen(in: source, from: mark.bodyStart) else { return false }
        let rest = try source.bytes(in: end..<min(source.count, end + searched))
        let empty = [[10, 10], [10, 13, 10]].compactMap { rest.octets.firstOffset(of: $0) }.min()
        if empty == nil, end + rest.count < source.count { return true }
        return HeaderBlock.mayContainField(named: HeaderBlock.mailFields, in: rest[..<(empty ?? rest.count)])
    }

    /// The object in the first PEM block of `source` whose label is that of a CMS object. If there is no such block, the
    /// object in the first block.
    ///
    /// - Throws: `CMSError.malformed` if there is no block, or the block is empty or has no END line; errors of reading.
    package static func stream(of source: any ByteSource) throws -> ByteStream {
        guard let mark = try mark(in: head(of: source)) else { throw CMSError.malformed(.pem, "no PEM block") }
        guard let end = try hyphen(in: source, from: mark.bodyStart),
            try source.bytes(in: end..<min(source.count, end + Self.end.count)) == Self.end
        else { throw CMSError.malformed(.pem, "no END \(mark.label)") }
        guard end > mark.bodyStart else { throw CMSError.malformed(.pem, "an empty PEM block") }
        return source.stream(in: mark.bodyStart..<end).base64Decoded()
    }

    /// A warning if there is text around the PEM block that `stream(of:)` reads, or another block: no signature covers it.
    package static func surroundings(of source: any ByteSource) throws -> [Problem] {
        guard let mark = try mark(in: head(of: source)), let end = try hyphen(in: source, from: mark.bodyStart) else {
            return []
        }
        let line = "-----END \(mark.label)-----".utf8.count
        let rest = min(source.count, end + line)..<source.count
        guard try isText(source, in: 0..<mark.start) || isText(source, in: rest) else { return [] }
        return [Problem(.trailingBytes, "the text around the PEM block is not part of what was signed or encrypted")]
    }

    private static func isText(_ source: any ByteSource, in range: Range<Int>) throws -> Bool {
        let window = Window()
        let reader = source.reader(in: range)
        while case let count = try window.fill(from: reader), count > 0 {
            let bytes = window.prefix(count)
            if bytes.indices.contains(where: { ![9, 10, 13, 32].contains(bytes[$0]) }) { return true }
        }
        return false
    }

    /// Writes the output of `body` as one PEM block with the label `label`.
    package static func write(
        to sink: any ByteSink,
        label: String = "CMS",
        _ body: (any ByteSink) throws -> Void
    ) throws {
        try sink.write("-----BEGIN \(label)-----\n")
        let encoder = Base64Encoder(sink, lineEnd: [10])
        try body(encoder)
        try encoder.finish()
        try sink.write("-----END \(label)-----\n")
    }

    private static func head(of source: any ByteSource) throws -> [UInt8] {
        try source.bytes(in: 0..<min(source.count, searched))
    }

    /// The first block in `head` whose label is that of a CMS object; otherwise the first block of all. Nil if there is no
    /// block.
    private static func mark(in head: [UInt8]) -> Mark? {
        var first: Mark?
        var position = 0
        while let start = head.octets.firstOffset(of: begin, from: position) {
            position = start + begin.count
            guard start == 0 || head[start - 1] == 10, let lineEnd = head[position...].firstIndex(of: 10),
                let label = label(of: head[position..<lineEnd])
            else { continue }
            let mark = Mark(label: label, start: start, bodyStart: lineEnd + 1)
            if labels.contains(mark.label) { return mark }
            first = first ?? mark
        }
        return first
    }

    /// The label in the rest of a BEGIN line; nil if the label does not end with hyphens.
    private static func label(of line: ArraySlice<UInt8>) -> String? {
        let label = line.prefix { $0 != UInt8(ascii: "-") }
        let rest = line.dropFirst(label.count).prefix { ![9, 13, 32].contains($0) }
        return rest.elementsEqual("-----".utf8) ? String(decoding: label, as: UTF8.self) : nil
    }

    /// The offset of the first hyphen at or after `start`. Base64 contains no hyphen.
    private static func hyphen(in source: any ByteSource, from start: Int) throws -> Int? {
        let window = Window()
        let reader = source.reader(in: min(start, source.count)..<source.count)
        var position = start
        while case let count = try window.fill(from: reader), count > 0 {
            if let found = window.prefix(count).firstOffset(of: 0x2D) { return position + found }
            position += count
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// Whether the first line is an mbox From line, from which some programs take the author.
    fileprivate var beginsWithMboxLine: Bool {
        (try? HeaderBlock(parsing: Array(self)))?.defects.contains(.mboxLine) == true
    }
}

extension HeaderBlock {
    /// Whether this is the header of a mail: at least one of the usual fields is present.
    ///
    /// - Parameter besidePEM: whether a PEM block follows. People write `Subject:` in front of PEM blocks, too (RFC 7468
    ///   §5.2).
    func isMail(besidePEM: Bool) -> Bool {
        fields.contains { field in
            Self.mailFields.contains(field.name.lowercased()) || !besidePEM && field.isNamed("Subject")
        }
    }

    /// The usual fields of mail, in lower case.
    fileprivate static let mailFields: Set<String> = [
        "from", "to", "cc", "date", "message-id", "mime-version", "content-type", "received", "return-path",
        "delivered-to", "sender", "reply-to", "content-transfer-encoding", "apparently-from", "apparently-to",
        "resent-from", "resent-sender", "resent-to",
    ]
}
