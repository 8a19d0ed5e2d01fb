package import ByteStreams
package import InternetMessage

/// The parts of a message that a person reads: header fields, texts, and a list of attachments.
///
/// Texts and names are not cleaned. The caller must remove control characters before displaying them. Signatures are not
/// verified; `Part.signature` only names the signature around a part.
package struct ReadableMessage: Sendable {
    /// A part to display.
    package struct Part: Sendable {
        /// The section number of the part, as in IMAP (RFC 3501 §6.4.5).
        package let section: String
        /// The section of the innermost signature around the part, as in `VerificationReport.Signer.section`; nil if the part
        /// is not signed.
        package let signature: String?
        package let content: Content
    }

    /// The content of a part.
    package enum Content: Sendable {
        /// An attached file.
        case attachment(name: String?, type: String, size: Int)
        /// A text as plain text, as HTML, or in both forms.
        case body(plain: BodyText?, html: BodyText?)
        /// A part that claims to be protected but cannot be read.
        case damaged(type: String)
        /// Encrypted content, which was not decrypted.
        case encrypted
        /// The header fields of an embedded message; its parts follow.
        case message([Field])
    }

    /// A header field that people read, with its encoded words decoded.
    package struct Field: Sendable {
        package let name: String
        package let value: String
    }

    /// The fields of the message.
    package let fields: [Field]
    /// The parts, in order.
    package let parts: [Part]
    /// Whether the message has more parts than the list.
    package let isCut: Bool

    /// Reads the message in `source`.
    ///
    /// - Parameters:
    ///   - textLimit: the maximum number of bytes to read from each text.
    ///   - totalLimit: the maximum number of bytes to read from all texts together. Later texts are cut or left out
    ///     (`BodyText.isLeftOut`).
    /// - Throws: `MIMEError.limitExceeded`; errors of reading; `CancellationError`.
    package init(_ source: any ByteSource, textLimit: Int = 4 << 20, totalLimit: Int = 16 << 20) throws {
        let message = try LocatedEntity(reading: source)
        fields = Self.fields(of: message.entity.header)
        var walk = ReadableParts(textLimit: textLimit, totalLimit: totalLimit)
        try walk.add(MessagePlace(message), in: nil)
        (parts, isCut) = (walk.parts, walk.isCut)
    }

    /// The displayed fields, in this order.
    private static let names = ["From", "Sender", "Reply-To", "To", "Cc", "Date", "Subject"]

    static func fields(of header: HeaderBlock) -> [Field] {
        names.flatMap { name in header.all(name).prefix(10).map { Field(name: name, value: $0.displayValue) } }
    }
}
