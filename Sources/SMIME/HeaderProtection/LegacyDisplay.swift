package import ByteStreams
package import InternetMessage

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
        let parts = message.mainBodyParts.filter { !$0.range.isEmpty && $0.contentType.parameters[parameter] == nil }
        let edits = try parts.compactMap { part in
            try LegacyDisplayPart(part, in: source)?.adding(fields)
        }
        return edits.isEmpty ? nil : try splice(edits, into: source, message.range)
    }

    /// `entity` without the copies of header fields that `adding` inserts; nil if there are no copies.
    ///
    /// - Throws: `MIMEError`, and errors of reading.
    package static func removing(from entity: Entity, in source: any ByteSource) throws -> (any ByteSource)? {
        let parts = entity.mainBodyParts.filter { $0.contentType.parameters[parameter] == "1" }
        let edits = try parts.compactMap { try LegacyDisplayPart($0, in: source)?.removing() }
        return edits.isEmpty ? nil : try splice(edits, into: source, entity.range)
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
    /// The parts that mail programs show as the message's text.
    ///
    /// RFC 9787 §1.6.1 ("main body part")
    var mainBodyParts: [Entity] {
        guard contentType.isMultipart else {
            let isText = contentType.name == "text/plain" || contentType.name == "text/html"
            return isText && disposition?.kind != "attachment" ? [self] : []
        }
        return (contentType.subtype == "alternative" ? children[...] : children.prefix(1)).flatMap(\.mainBodyParts)
    }
}
