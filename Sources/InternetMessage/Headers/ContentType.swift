import ByteStreams

/// The type of a body: a media type with its parameters.
///
/// RFC 2045 §5
package struct ContentType: Hashable, Sendable {
    /// The type before the slash, in lower case.
    package let type: String
    /// The subtype after the slash, in lower case.
    package let subtype: String
    /// The parameters.
    package let parameters: FieldParameters
    /// Whether all programs find the same type and subtype: there are no comments or other text beside them, no blanks
    /// between them, and no blank after them if the parameters have errors or a quoted value with blanks.
    package let hasPlainName: Bool
    /// Whether the field may contain an encoded word (RFC 2047).
    private let hasEncodedWord: Bool
    /// Whether the boundary contains a line break in the field. Programs put different blanks in its place, or none.
    private var hasFoldedBoundary = false

    /// The default type of a part (RFC 2045 §5.2).
    package static let plainText = ContentType(type: "text", subtype: "plain")
    /// The default type of a part of a multipart/digest (RFC 2046 §5.1.5).
    package static let message = ContentType(type: "message", subtype: "rfc822")

    private init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
        parameters = FieldParameters()
        hasPlainName = true
        hasEncodedWord = false
    }

    /// Reads a Content-Type field; nil if it has no type and subtype.
    package init?(field: HeaderField) {
        self.init(bytes: field.unfoldedBody)
        guard let boundary, boundary.contains(where: \.isBlank) else { return }
        hasFoldedBoundary = Array(field.bodyBytes).octets.firstOffset(of: boundary) == nil
    }

    /// Reads the body of a Content-Type field; nil if it has no type and subtype.
    package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

    private init?(bytes: [UInt8]) {
        var tokens = FieldTokens(bytes)
        tokens.skipBlanksAndComments()
        type = String(mail: tokens.takeToken(until: ";/(")).lowercased()
        tokens.skipBlanksAndComments()
        guard tokens.take("/") else { return nil }
        tokens.skipBlanksAndComments()
        subtype = String(mail: tokens.takeToken(until: ";(")).lowercased()
        guard !type.isEmpty, !subtype.isEmpty else { return nil }
        let start = bytes[...].trimmingBlanks().prefix(type.utf8.count + subtype.utf8.count + 1)
        let isBeforeBlank = tokens.next?.isBlank == true
        tokens.skipBlanksAndComments()
        let isPlain =
            start.equalsIgnoringCase("\(type)/\(subtype)") && tokens.comments.isEmpty
            && (tokens.isAtEnd || tokens.next == UInt8(ascii: ";"))
        hasEncodedWord = Self.beginsEncodedWord(bytes)
        parameters = FieldParameters(&tokens)
        // If a blank is here and the parameters have errors, Ruby's mail library finds no type.
        hasPlainName = isPlain && !(isBeforeBlank && (parameters.hasErrors || parameters.hasQuotedBlank))
    }

    /// Whether an encoded word may begin in `bytes`. Programs differ on how it must end.
    private static func beginsEncodedWord(_ bytes: [UInt8]) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "=") && $1 == UInt8(ascii: "?") }
    }

    /// Whether the type is multipart/signed (RFC 1847 §2.1).
    var isSigned: Bool { name == "multipart/signed" }

    /// The media type without parameters, such as `text/plain`.
    package var name: String { "\(type)/\(subtype)" }

    /// Whether the body is a multipart.
    package var isMultipart: Bool { type == "multipart" }

    /// Whether the body is a message (RFC 2046 §5.2.1, RFC 6532).
    package var isMessage: Bool { name == "message/rfc822" || name == "message/global" }

    /// The boundary of a multipart, 1 to 70 characters of which the last is not a blank (RFC 2046 §5.1.1); nil if there is no
    /// valid boundary.
    package var boundary: [UInt8]? {
        guard isMultipart, var boundary = parameters["boundary"].map({ Array($0.utf8) }) else { return nil }
        while let last = boundary.last, last.isBlank { boundary.removeLast() }
        let isLegal = boundary.allSatisfy { $0 != 0 && $0 != .carriageReturn && $0 != .lineFeed }
        return isLegal && 1...70 ~= boundary.count ? boundary : nil
    }

    /// Whether other programs may use a different boundary or none.
    ///
    /// Some programs treat angle brackets around a value as quotes, do not count blanks around the value as part of it, or
    /// decode encoded words, which RFC 2047 §5 does not allow here.
    var isBoundaryAmbiguous: Bool {
        guard hasPlainName, !parameters.isAmbiguous else { return true }
        if parameters.contradictions.union(parameters.irregularities).contains("boundary") { return true }
        if hasEncodedWord && isSigned || hasFoldedBoundary { return true }
        if isSigned, parameters.hasErrors || parameters.hasSections { return true }
        if isSigned, parameters.hasSemicolon || parameters.mayHideBoundary { return true }
        guard let boundary, let written = parameters["boundary"]?.utf8 else { return false }
        // Some programs end a value without quotes at the first character that needs them (RFC 2045 §5.1), or read
        // apostrophes as those of RFC 2231 §4.
        if isSigned, parameters.isUnquoted("boundary"), boundary.contains(where: Self.needsQuotes) { return true }
        // Lines of hyphens are also found in text.
        if boundary.allSatisfy({ $0 == UInt8(ascii: "-") }) || Self.beginsEncodedWord(boundary) { return true }
        return written.first?.isBlank == true || written.last?.isBlank == true
            || zip(boundary, boundary.dropFirst()).contains { $0.isBlank && $1.isBlank }
            || !boundary.allSatisfy { 32...126 ~= $0 && !"<>\"\\".utf8.contains($0) }
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool { "()<>@,;:\\\"/[]?=*'".utf8.contains(byte) }
}

/// The Content-Disposition of a part: how to display the part.
///
/// RFC 2183
package struct ContentDisposition: Hashable, Sendable {
    /// The disposition in lower case: `inline`, `attachment` or another.
    package let kind: String
    /// The parameters.
    package let parameters: FieldParameters

    /// Reads a Content-Disposition field; nil if it names no disposition type.
    package init?(field: HeaderField) {
        var tokens = FieldTokens(field.unfoldedBody)
        tokens.skipBlanksAndComments()
        kind = String(mail: tokens.takeToken(until: ";(")).lowercased()
        guard !kind.isEmpty else { return nil }
        parameters = FieldParameters(&tokens)
    }

    /// The file name of the part; nil if there is none.
    package var filename: String? { parameters["filename"] }
}
