import ByteStreams
import InternetMessage

/// A place in a message where a layer may begin: an entity, how deep it is, and in which section.
struct MessagePlace: Sendable {
    let part: LocatedEntity
    /// How many messages and layers are around it.
    let depth: Int
    /// The section below which its parts are counted (RFC 3501 §6.4.5); empty for a whole message.
    let section: [Int]
    /// The section of its body, unless it is a multipart.
    let bodySection: [Int]

    /// A whole message.
    init(_ message: LocatedEntity, depth: Int = 0) {
        self.init(message, depth: depth, section: [], bodySection: [1])
    }

    /// A message that is to be opened.
    ///
    /// - Parameter message: nil reads the structure of what is in `source`.
    /// - Throws: `MessageError.malformed` for an empty input, `MIMEError`.
    init(opening message: Entity?, in source: any ByteSource) throws {
        guard source.count > 0 else { throw MessageError.malformed("the input is empty") }
        self.init(LocatedEntity(entity: try message ?? MIMEReader.message(in: source), source: source))
    }

    private init(_ part: LocatedEntity, depth: Int, section: [Int], bodySection: [Int]) {
        (self.part, self.depth, self.section, self.bodySection) = (part, depth, section, bodySection)
    }

    /// The layer that begins here; nil if the entity is not protected.
    ///
    /// - Parameter ignored: the defects that the entity's header may have.
    /// - Throws: `MessageError.malformed` and `.defective` for what claims to be protected and must not be taken for it.
    func layer(ignoring ignored: Set<MIMEDefect> = []) throws(MessageError) -> FoundLayer? {
        switch part.entity.protection(ignoring: ignored) {
        case nil: return nil
        case .malformed(let error): throw error
        case .multipartSigned(let content, let signature):
            return FoundLayer(object: signature, content: content, source: part.source, section: section + [2])
        case .cms(let declared):
            return FoundLayer(
                object: part.entity,
                declaredType: declared,
                source: part.source,
                section: bodySection
            )
        }
    }

    /// A detached signature that stands here without the content that it signs; nil if there is none.
    var looseSignature: FoundLayer? {
        part.entity.isSignature && part.entity.children.isEmpty ? bodyAsLayer : nil
    }

    /// The body of an entity without parts, taken for a CMS object whatever its header says; nil for a multipart.
    var bodyAsLayer: FoundLayer? {
        guard part.entity.children.isEmpty else { return nil }
        return FoundLayer(object: part.entity, source: part.source, section: bodySection)
    }

    /// The places of the parts of a multipart, or of the message in a message. Multiparts inside each other do not count
    /// as depth; the MIME reader limits them.
    ///
    /// RFC 3501 §6.4.5: a message that is no multipart has its body in section 1.
    /// - Throws: `MIMEError`, if the message in a message cannot be read.
    func parts() throws(MIMEError) -> [MessagePlace] {
        guard part.entity.contentType.isMessage else {
            return part.entity.children.enumerated().map { index, child in
                let section = section + [index + 1]
                return MessagePlace(located(child), depth: depth, section: section, bodySection: section)
            }
        }
        guard let message = try part.entity.embeddedMessage(in: part.source) else { return [] }
        let place = section.isEmpty ? [1] : section
        return [MessagePlace(located(message), depth: depth + 1, section: place, bodySection: place + [1])]
    }

    /// The place of `content`, which is inside the layer that begins here.
    func inside(_ content: LocatedEntity) -> MessagePlace {
        MessagePlace(content, depth: depth + 1, section: section, bodySection: bodySection)
    }

    /// The place of `content`, which is beside its signature in the multipart that is here.
    func beside(_ content: Entity) -> MessagePlace {
        let section = section + [1]
        return MessagePlace(located(content), depth: depth + 1, section: section, bodySection: section)
    }

    private func located(_ entity: Entity) -> LocatedEntity { LocatedEntity(entity: entity, source: part.source) }
}

/// A layer as it was found in a message, not opened yet.
struct FoundLayer: Sendable {
    /// The entity whose body is the CMS object.
    let object: Entity
    /// The signed entity of a multipart/signed; nil if the content is inside the object.
    var content: Entity?
    /// The smime-type in lower case; nil if there is none.
    var declaredType: String?
    let source: any ByteSource
    /// The section of the CMS object (RFC 3501 §6.4.5).
    let section: [Int]

    /// The layer, opened as far as it can be without keys.
    ///
    /// - Parameter isMail: whether the place is in mail.
    /// - Throws: `MessageError.malformed` if it is not what its header claims, `CMSError`, and what reading throws.
    func opened(isMail: Bool) throws -> Layer {
        if let content { return .signed(try SignedLayer(content: content, signature: object, in: source)) }
        let padding = PaddingWatch()
        return try Layer(
            cms: object.decodedBody(of: source) { padding.note() },
            declared: declaredType,
            padding: padding,
            content: isMail ? .entity : .anythingProven
        )
    }
}
