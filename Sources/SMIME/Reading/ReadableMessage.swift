package import ByteStreams
package import InternetMessage

/// What a person sees of a message: the fields at its top, its texts, and a list of what is attached.
///
/// Texts and names are as the message has them. The caller removes control characters before it shows them. Signatures are looked through
/// and not judged: `Part.signature` says in which one a part is.
package struct ReadableMessage: Sendable {
    /// A part as it is shown.
    package struct Part: Sendable {
        /// The number of the part, as IMAP counts (RFC 3501 §6.4.5).
        package let section: String
        /// The section of the innermost signature around the part, as `VerificationReport.Signer.section` names it; nil if
        /// it is in none.
        package let signature: String?
        package let content: Content
    }

    /// What a part is.
    package enum Content: Sendable {
        /// A file beside the text.
        case attachment(name: String?, type: String, size: Int)
        /// A text, in one form or in two that say the same.
        case body(plain: BodyText?, html: BodyText?)
        /// What claims to be protected and cannot be read.
        case damaged(type: String)
        /// Encrypted content that was not opened.
        case encrypted
        /// The fields of a message in the message, whose parts follow.
        case message([Field])
    }

    /// A header field that people read, with its encoded words decoded.
    package struct Field: Sendable {
        package let name: String
        package let value: String
    }

    /// The fields of the message.
    package let fields: [Field]
    /// Its parts, in order.
    package let parts: [Part]
    /// Whether there are more parts than are listed.
    package let isCut: Bool

    /// Reads the message in `source`.
    ///
    /// - Parameters:
    ///   - textLimit: how many bytes of each text are read.
    ///   - totalLimit: how many bytes of all texts together; those behind are cut or left out (`BodyText.isLeftOut`).
    /// - Throws: `MIMEError.limitExceeded`; what reading throws; `CancellationError`.
    package init(_ source: any ByteSource, textLimit: Int = 4 << 20, totalLimit: Int = 16 << 20) throws {
        let message = LocatedEntity(entity: try MIMEReader.message(in: source), source: source)
        fields = Self.fields(of: message.entity.header)
        var walk = ReadableParts(textLimit: textLimit, totalLimit: totalLimit)
        try walk.add(MessagePlace(message), in: nil)
        (parts, isCut) = (walk.parts, walk.isCut)
    }

    /// The fields that are shown, in this order.
    private static let names = ["From", "Sender", "Reply-To", "To", "Cc", "Date", "Subject"]

    static func fields(of header: HeaderBlock) -> [Field] {
        names.flatMap { name in header.all(name).prefix(10).map { Field(name: name, value: $0.displayValue) } }
    }
}
