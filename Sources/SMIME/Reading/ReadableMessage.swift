package import ByteStreams
import CMSSyntax
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
        /// The section of the outermost signature around the part, as in `VerificationReport.Signer.section`; nil if the part
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
        /// A part that claims to be protected but cannot be read. For a signed object without content, `type` is
        /// `certificates`.
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
        try walk.add(EntityLocation(message), in: nil)
        (parts, isCut) = (walk.parts, walk.isCut)
    }

    /// The displayed fields, in this order.
    private static let names = ["From", "Sender", "Reply-To", "To", "Cc", "Date", "Subject"]

    static func fields(of header: HeaderBlock) -> [Field] {
        names.flatMap { name in header.all(name).prefix(10).map { Field(name: name, value: $0.displayValue) } }
    }
}

/// Collects the parts of a message for display, in order.
struct ReadableParts {
    /// The maximum number of parts in the list.
    private static let maximumParts = 1000

    private let textLimit: Int
    /// The number of bytes of text that may still be read.
    private var remaining: Int
    private(set) var parts: [ReadableMessage.Part] = []
    private(set) var isCut = false
    /// Whether a layer was decompressed. No legitimate program compresses twice.
    private var hasDecompressed = false

    /// - Parameters:
    ///   - textLimit: the maximum number of bytes to read from each text.
    ///   - totalLimit: the maximum number of bytes to read from all texts together.
    init(textLimit: Int, totalLimit: Int) {
        self.textLimit = textLimit
        remaining = totalLimit
    }

    /// Adds the entity at `place` and its parts.
    ///
    /// - Parameter signature: the section of the signature around the entity; nil if there is none.
    mutating func add(_ place: EntityLocation, in signature: String?) throws {
        try Task.checkCancellation()
        guard parts.count < Self.maximumParts else {
            isCut = true
            return
        }
        do {
            if let found = try place.layer(ignoring: [.hiddenFields]) {
                return try add(found, at: place, in: signature)
            }
        } catch {
            guard error.isAboutMessage else { throw error }
            return add(.damaged(type: place.part.entity.contentType.name), place, signature: signature)
        }
        switch place.part.entity.contentType {
        case let type where type.isMultipart && type.subtype == "alternative": try addAlternatives(place, signature)
        case let type where type.isMultipart && !place.part.entity.children.isEmpty:
            for part in try place.parts() { try add(part, in: signature) }
        case let type where type.isMessage: try addMessage(place, signature)
        default: try addLeaf(place, signature)
        }
    }

    private mutating func add(_ content: ReadableMessage.Content, _ place: EntityLocation, signature: String?) {
        parts.append(
            ReadableMessage.Part(section: Self.text(place.bodySection), signature: signature, content: content)
        )
    }

    private static func text(_ section: [Int]) -> String { section.map(String.init).joined(separator: ".") }

    /// Adds the content of a layer.
    private mutating func add(_ found: FoundLayer, at place: EntityLocation, in signature: String?) throws {
        // A signature inside another signature covers no more than the outer signature.
        let section = signature ?? Self.text(found.section)
        if let content = found.content { return try add(place.signedPart(content), in: section) }
        guard place.depth < MessageOpener.maximumLayers else { throw MessageError.tooManyLayers }
        switch try found.opened(isMail: true) {
        case .encrypted: add(.encrypted, place, signature: signature)
        case .compressed(let layer):
            guard !hasDecompressed else { throw CMSError.limitExceeded("one layer of compression") }
            hasDecompressed = true
            try add(place.inside(layer.content()), in: signature)
        case .signed(let layer):
            guard let content = layer.content else {
                return add(.damaged(type: "certificates"), place, signature: signature)
            }
            try add(place.inside(content), in: section)
        }
    }

    /// Adds the text of a multipart/alternative, and then its other parts.
    private mutating func addAlternatives(_ place: EntityLocation, _ signature: String?) throws {
        var plain: BodyText?
        var html: BodyText?
        var others: [EntityLocation] = []
        for part in try place.parts() {
            let (root, beside) = try Self.root(of: part)
            others += beside
            let entity = root.part.entity
            switch entity.contentType.name {
            case "text/plain" where plain == nil: plain = try text(of: root)
            case "text/html": html = try text(of: root)
            default: others.append(root)
            }
        }
        if plain != nil || html != nil { add(.body(plain: plain, html: html), place, signature: signature) }
        for other in others { try add(other, in: signature) }
    }

    /// The main part of a multipart/related and the other parts; any other entity is its own main part.
    private static func root(of place: EntityLocation) throws -> (root: EntityLocation, others: [EntityLocation]) {
        guard place.part.entity.contentType.name == "multipart/related" else { return (place, []) }
        let parts = try place.parts()
        return (parts.first ?? place, Array(parts.dropFirst()))
    }

    private mutating func addMessage(_ place: EntityLocation, _ signature: String?) throws {
        guard place.depth < MessageOpener.maximumLayers, let message = try? place.parts().first else {
            return try addLeaf(place, signature)
        }
        add(.message(ReadableMessage.fields(of: message.part.entity.header)), place, signature: signature)
        try add(message, in: signature)
    }

    private mutating func addLeaf(_ place: EntityLocation, _ signature: String?) throws {
        let entity = place.part.entity
        let isFile = entity.disposition?.kind == "attachment" || entity.fileName != nil && entity.disposition != nil
        guard entity.contentType.type == "text", !isFile else {
            let name = entity.fileName
            return add(
                .attachment(name: name, type: entity.contentType.name, size: try size(of: place)),
                place,
                signature: signature
            )
        }
        let text = try text(of: place)
        let isHTML = entity.contentType.subtype == "html"
        add(.body(plain: isHTML ? nil : text, html: isHTML ? text : nil), place, signature: signature)
    }

    private mutating func text(of place: EntityLocation) throws -> BodyText {
        let text = try place.part.entity.bodyText(of: place.part.source, limit: min(textLimit, remaining))
        remaining -= min(remaining, text.text.utf8.count)
        return text
    }

    /// The size of the decoded body in bytes; if the encoding is damaged, the size of the encoded body.
    private func size(of place: EntityLocation) throws -> Int {
        let entity = place.part.entity
        do {
            return try entity.decodedBody(of: place.part.source).makeReader().copy(to: CountingSink())
        } catch StreamError.malformedBase64 { return entity.bodyRange.count }
    }
}
