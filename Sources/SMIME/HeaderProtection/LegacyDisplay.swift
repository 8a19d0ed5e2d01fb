package import ByteStreams
package import InternetMessage

/// Hidden header fields, written once more at the top of the text for readers that decrypt but know no header protection.
///
/// RFC 9788 §5.2.2 (writing), §4.5.3 (reading)
package enum LegacyDisplay {
    /// `message` with `fields` at the top of each main body part; nil if there is no part to put them in.
    ///
    /// - Throws: `MIMEError`, and what reading throws.
    package static func adding(
        _ fields: [HeaderField],
        to message: Entity,
        in source: any ByteSource
    ) throws -> (any ByteSource)? {
        guard !fields.isEmpty else { return nil }
        // An empty part has no header to mark. A part that begins at a delimiter of an outer multipart is empty too,
        // and text written for it would follow the parts of its parent.
        let parts = message.mainBodyParts.filter { !$0.range.isEmpty && $0.contentType.parameters[parameter] == nil }
        let edits = try parts.compactMap { part in
            try LegacyDisplayPart(part, in: source)?.adding(fields)
        }
        return edits.isEmpty ? nil : try splice(edits, into: source, message.range)
    }

    /// `entity` without the copies of header fields that `adding` inserts; nil if there are none.
    ///
    /// - Throws: `MIMEError`, and what reading throws.
    package static func removing(from entity: Entity, in source: any ByteSource) throws -> (any ByteSource)? {
        let parts = entity.mainBodyParts.filter { $0.contentType.parameters[parameter] == "1" }
        let edits = try parts.compactMap { try LegacyDisplayPart($0, in: source)?.removing() }
        return edits.isEmpty ? nil : try splice(edits, into: source, entity.range)
    }

    /// Marks a part that has it.
    static let parameter = "hp-legacy-display"

    /// Another form of one part.
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
    /// The parts that readers show as the message's text.
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
