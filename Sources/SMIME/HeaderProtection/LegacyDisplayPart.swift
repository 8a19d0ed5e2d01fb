package import ByteStreams
package import InternetMessage

/// Inserts the legacy display into the text of a main body part, or removes it.
struct LegacyDisplayPart {
    /// The maximum size of a text in bytes. Larger texts are not changed.
    private static let limit = 16 * 1024 * 1024
    private static let division = Array("<div class=\"header-protection-legacy-display\">".utf8)

    private let part: Entity
    private let text: [UInt8]

    private var isHTML: Bool { part.contentType.subtype == "html" }
    private var isEncoded: Bool { !part.transferEncoding.isIdentity }
    /// The line ends of the text.
    private var lineEnd: LineEnd { isEncoded ? .crlf : part.header.lineEnd }

    /// Reads the text of `part`; nil if the text is too large, its transfer encoding is unknown or damaged, or its character
    /// set does not extend ASCII.
    init?(_ part: Entity, in source: any ByteSource) throws {
        if case .other = part.transferEncoding { return nil }
        let charset = part.contentType.parameters["charset"]?.lowercased() ?? ""
        guard part.bodyRange.count <= Self.limit, !charset.hasPrefix("utf-16"), !charset.hasPrefix("utf-32") else {
            return nil
        }
        let raw = source.stream(in: part.bodyRange)
        let stream = part.transferEncoding.isIdentity ? raw : part.transferEncoding.decoded(raw.lines(endingIn: .crlf))
        do {
            text = try stream.makeReader().readAll(limit: Self.limit, orThrow: MIMEError.limitExceeded(.headerBytes))
        } catch StreamError.malformedBase64, MIMEError.limitExceeded {
            // The text with CRLF line ends may be longer than the limit.
            return nil
        }
        self.part = part
    }

    /// The part with `fields` at the start of its text; nil if its Content-Type cannot take the mark.
    func adding(_ fields: [HeaderField]) throws -> LegacyDisplay.Edit? {
        let shown = fields.map { "\($0.name): \($0.displayValue.escapedForDisplay)" }
        if isHTML { return try edit(addingDivision(shown)) { $0 } }
        let charset = part.contentType.parameters["charset"]?.lowercased() ?? "us-ascii"
        let isPlain = shown.allSatisfy { $0.utf8.allSatisfy { $0 < 128 } }
        let becomesUTF8 = charset == "us-ascii" && text.allSatisfy { $0 < 128 } && !isPlain
        let lines =
            isPlain || becomesUTF8 || charset == "utf-8"
            ? shown : fields.map { "\($0.name): \($0.value.escapedForDisplay)" }
        let top = Array((lines.joined(separator: lineEnd.rawValue) + lineEnd.rawValue + lineEnd.rawValue).utf8)
        return try edit(top + text) { field in
            guard becomesUTF8 else { return field }
            let bytes = field.removingParameters(["charset"], part.header.lineEnd)
            return bytes.field?.appendingParameter("charset", value: "utf-8", part.header.lineEnd).field ?? field
        }
    }

    /// The part without its legacy display; nil if it has no legacy display.
    ///
    /// Only copies of `fields` are removed: any other text is the author's, and other programs may show it.
    func removing(copiesOf fields: HeaderBlock.Fields) throws -> LegacyDisplay.Edit? {
        guard let (copies, rest) = isHTML ? dividedAfterDivision() : dividedAfterLines(),
            FieldCopies(copies).areOnly(fields)
        else { return nil }
        return try edit(rest, isMarked: false) { $0 }
    }

    /// Plain text: the lines up to the first empty line, and the rest.
    private func dividedAfterLines() -> (copies: String, rest: [UInt8])? {
        var start = 0
        while let end = text[start...].firstIndex(of: .lineFeed) {
            guard text[start..<end].trimmingBlanks().isEmpty else {
                start = end + 1
                continue
            }
            return (BodyText.decoded(Array(text[..<start]), of: part), Array(text[(end + 1)...]))
        }
        return nil
    }

    private func addingDivision(_ lines: [String]) -> [UInt8] {
        let shown = lines.map { line in
            line.unicodeScalars.map { scalar in
                scalar.isASCII && !"<>&\"".unicodeScalars.contains(scalar) ? String(scalar) : "&#\(scalar.value);"
            }.joined()
        }.joined(separator: lineEnd.rawValue)
        let element =
            lineEnd.bytes + Self.division + lineEnd.bytes + Array("<pre>\(shown)</pre>".utf8) + lineEnd.bytes
            + Array("</div>".utf8)
        let place = startOfBody
        return text[..<place] + element + text[place...]
    }

    /// The offset after the `body` tag; 0 if there is none.
    private var startOfBody: Int {
        guard let body = text.firstIndex(ofTag: "<body"), let end = text[body...].firstIndex(of: UInt8(ascii: ">"))
        else { return 0 }
        return end + 1
    }

    /// HTML: the text of the division, which must be the first element of the body, and the page without the division.
    private func dividedAfterDivision() -> (copies: String, rest: [UInt8])? {
        let bodyStart = startOfBody
        guard var start = text[bodyStart...].firstIndex(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }),
            text[start...].prefix(Self.division.count).equalsIgnoringCase(String(mail: Self.division)),
            let close = text[start...].firstIndex(ofTag: "</div>")
        else { return nil }
        let content = text[(start + Self.division.count)..<close]
        guard Self.isPlain(content) else { return nil }
        if start > bodyStart, text[start - 1] == .lineFeed { start -= 1 }
        if start > bodyStart, text[start - 1] == .carriageReturn { start -= 1 }
        let copies = MailHTML(BodyText.decoded(Array(content), of: part)).text
        return (copies, Array(text[..<start] + text[(close + 6)...]))
    }

    /// The elements in a division that show nothing but their text.
    private static let plainElements: Set<String> = ["b", "br", "code", "p", "pre", "span", "strong", "tt"]

    /// Whether `html` has only text and plain elements.
    private static func isPlain(_ html: ArraySlice<UInt8>) -> Bool {
        html.indices.filter { html[$0] == UInt8(ascii: "<") }.allSatisfy { start in
            let tag = html[(start + 1)...].drop { $0 == UInt8(ascii: "/") }
            let name = tag.prefix { ![UInt8(ascii: ">"), UInt8(ascii: "/"), 0x09, 0x0A, 0x0D, 0x20].contains($0) }
            return plainElements.contains(String(mail: name).lowercased())
        }
    }

    /// The part with a different text; nil if its Content-Type cannot take the mark. The transfer encoding stays the same if it
    /// can encode the text.
    private func edit(
        _ text: [UInt8],
        isMarked: Bool = true,
        type change: (HeaderField) -> HeaderField
    ) throws -> LegacyDisplay.Edit? {
        let header = part.header
        var encoding = part.transferEncoding
        if encoding == .sevenBit, text.contains(where: { $0 > 127 }) { encoding = .quotedPrintable }
        var bytes = Array(header.leadingBytes)
        var hasType = false
        for field in header.fields {
            if field.isNamed("Content-Type") {
                let field = change(field)
                hasType = true
                let unmarked = field.removingParameters([LegacyDisplay.parameter], header.lineEnd)
                guard let type = isMarked ? marked(field, header.lineEnd) : unmarked else { return nil }
                bytes += type
            } else if encoding == part.transferEncoding || !field.isNamed("Content-Transfer-Encoding") {
                bytes += field.terminatedBytes(header.lineEnd)
            }
        }
        if !hasType, isMarked {
            guard let type = Array("Content-Type: text/plain\r\n".utf8).field,
                let added = marked(change(type), .crlf)
            else { return nil }
            bytes += added.withLines(endingIn: header.lineEnd)
        }
        if encoding != part.transferEncoding {
            bytes += NewField("Content-Transfer-Encoding", value: encoding.name).bytes(lineEnd: header.lineEnd)
        }
        return LegacyDisplay.Edit(
            range: part.range,
            bytes: bytes + header.lineEnd.bytes + (try encoded(text, encoding))
        )
    }

    /// The Content-Type `field` with the mark; nil if programs could not read the mark, and would not remove the inserted text.
    private func marked(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        let bytes = field.appendingParameter(LegacyDisplay.parameter, value: "1", lineEnd)
        guard let read = bytes.field.flatMap({ ContentType(field: $0) }), read.name == part.contentType.name,
            read.parameters[LegacyDisplay.parameter] == "1"
        else { return nil }
        return bytes
    }

    private func encoded(_ text: [UInt8], _ encoding: TransferEncoding) throws -> [UInt8] {
        let sink = MemorySink()
        switch encoding {
        case .base64:
            let encoder = Base64Encoder(sink, lineEnd: part.header.lineEnd.bytes)
            try encoder.write(text)
            try encoder.finish()
        case .quotedPrintable:
            let encoder = QuotedPrintableEncoder(sink)
            try encoder.write(isEncoded ? text : text.withLines(endingIn: .crlf))
            try encoder.finish()
            return sink.bytes.withLines(endingIn: part.header.lineEnd)
        default: return text
        }
        return sink.bytes
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The index at which the first `tag` begins, in any ASCII case.
    fileprivate func firstIndex(ofTag tag: String) -> Int? {
        let count = tag.utf8.count
        var rest = self[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            if self[start...].prefix(count).equalsIgnoringCase(tag) { return start }
            rest = self[(start + 1)...]
        }
        return nil
    }
}

/// Copies of hidden header fields at the start of the text, for mail programs that can decrypt but do not support header
/// protection.
///
/// RFC 9788 §5.2.2 (writing), §4.5.3 (reading)
package enum LegacyDisplay {
    /// Inserts `fields` at the start of each main body part of `message`; nil if no part can hold them.
    ///
    /// - Throws: `MIMEError`, and errors of reading.
    package static func adding(
        _ fields: [HeaderField],
        to message: Entity,
        in source: any ByteSource
    ) throws -> (any ByteSource)? {
        guard !fields.isEmpty else { return nil }
        // An empty part has no header for the parameter. A part that begins at the delimiter of an outer multipart is empty
        // too, and text inserted into it would follow the parts of its parent.
        let parts = message.mainBodyParts.filter { !$0.range.isEmpty && !$0.isMarkedForLegacyDisplay }
        let edits = try parts.compactMap { part in
            try LegacyDisplayPart(part, in: source)?.adding(fields)
        }
        return edits.isEmpty ? nil : try splice(edits, into: source, message.range)
    }

    /// `entity` without the copies of its header fields that `adding` inserts; nil if there are no copies.
    ///
    /// - Throws: `MIMEError`, and errors of reading.
    package static func removing(from entity: Entity, in source: any ByteSource) throws -> (any ByteSource)? {
        let parts = entity.mainBodyParts.filter { $0.contentType.parameters[parameter] == "1" }
        let edits = try parts.compactMap {
            try LegacyDisplayPart($0, in: source)?.removing(copiesOf: entity.header.fields)
        }
        return edits.isEmpty ? nil : try splice(edits, into: source, entity.range)
    }

    /// `message` without marks of a legacy display, which the author's program left in it; nil if there are none. With such a
    /// mark, the recipient's program would not show the beginning of the text.
    ///
    /// - Throws: errors of reading.
    static func unmarking(_ message: Entity, in source: any ByteSource) throws -> (any ByteSource)? {
        let edits = message.mainBodyParts.filter { !$0.range.isEmpty && $0.isMarkedForLegacyDisplay }.map { part in
            let (header, lineEnd) = (part.header, part.header.lineEnd)
            let fields = header.fields.map { field in
                field.isNamed("Content-Type")
                    ? field.removingParameters([parameter], lineEnd) : field.terminatedBytes(lineEnd)
            }
            return Edit(
                range: part.range.lowerBound..<part.bodyRange.lowerBound,
                bytes: header.leadingBytes + fields.joined() + lineEnd.bytes
            )
        }
        return edits.isEmpty ? nil : try splice(edits, into: source, message.range)
    }

    /// The Content-Type parameter that marks a part with a legacy display.
    static let parameter = "hp-legacy-display"

    /// The replacement of one part.
    struct Edit {
        let range: Range<Int>
        let bytes: [UInt8]
    }

    private static func splice(_ edits: [Edit], into source: any ByteSource, _ range: Range<Int>) throws
        -> any ByteSource
    {
        let spool = Spool()
        var position = range.lowerBound
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            try source.reader(in: position..<edit.range.lowerBound).copy(to: spool)
            try spool.write(edit.bytes)
            position = edit.range.upperBound
        }
        try source.reader(in: position..<range.upperBound).copy(to: spool)
        return try spool.finish()
    }
}

extension Entity {
    /// Whether the Content-Type says that the text begins with a legacy display.
    fileprivate var isMarkedForLegacyDisplay: Bool { contentType.parameters[LegacyDisplay.parameter] != nil }

    /// The parts that mail programs show as the message's text.
    ///
    /// RFC 9787 §1.6.1 ("main body part")
    var mainBodyParts: [Entity] {
        // Nothing may change below a signature.
        guard !["multipart/encrypted", "multipart/signed"].contains(contentType.name) else { return [] }
        guard contentType.isMultipart else {
            let isText = contentType.name == "text/plain" || contentType.name == "text/html"
            return isText && disposition?.kind != "attachment" ? [self] : []
        }
        return (contentType.subtype == "alternative" ? children[...] : children.prefix(1)).flatMap(\.mainBodyParts)
    }
}
