import ByteStreams
import InternetMessage

/// A position in a message where a layer may begin: an entity, its depth, and its section.
struct EntityLocation: Sendable {
    let part: LocatedEntity
    /// The number of messages and layers around the entity.
    let depth: Int
    /// The section from which the entity's parts are numbered (RFC 3501 §6.4.5); empty for a whole message.
    let section: [Int]
    /// The section of the entity's body, unless the entity is a multipart.
    let bodySection: [Int]

    /// The position of a whole message.
    init(_ message: LocatedEntity, depth: Int = 0) {
        self.init(message, depth: depth, section: [], bodySection: [1])
    }

    /// The position of a message to open.
    ///
    /// - Parameter message: the structure of the message in `source`; nil reads the structure.
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
    /// - Parameter ignored: the defects to ignore in the entity's header.
    /// - Throws: `MessageError.malformed` and `.defective` for an entity that claims to be protected but must not be treated
    ///   as protected.
    func layer(ignoring ignored: Set<MIMEDefect> = []) throws(MessageError) -> FoundLayer? {
        switch part.entity.protection(ignoring: ignored) {
        case nil: return nil
        case .malformed(let error): throw error
        case .multipartSigned(let content, let signature):
            return FoundLayer(object: signature, content: content, source: part.source, section: section + [2])
        case .cms(let declared, let isNamed):
            return FoundLayer(
                object: part.entity,
                declaredType: declared,
                isNamed: isNamed,
                source: part.source,
                section: bodySection
            )
        }
    }

    /// A detached signature without its content; nil if the entity is not a detached signature.
    var detachedSignature: FoundLayer? {
        part.entity.isSignature && part.entity.children.isEmpty ? bodyAsLayer : nil
    }

    /// The body of a single-part entity, read as a CMS object whatever its header says; nil for a multipart.
    var bodyAsLayer: FoundLayer? {
        guard part.entity.children.isEmpty else { return nil }
        return FoundLayer(object: part.entity, source: part.source, section: bodySection)
    }

    /// Whether the entity is an embedded message that is inside too many messages and layers to look into it.
    var isTooDeep: Bool { depth >= MessageOpener.maximumLayers && part.entity.contentType.isMessage }

    /// The positions of the parts of a multipart, or of the embedded message. Nested multiparts do not increase the depth;
    /// the MIME reader limits them.
    ///
    /// RFC 3501 §6.4.5: the body of a message that is not a multipart is section 1.
    /// - Throws: `MIMEError` if the embedded message cannot be read.
    func parts() throws(MIMEError) -> [EntityLocation] {
        guard part.entity.contentType.isMessage else {
            return part.entity.children.enumerated().map { index, child in
                let section = section + [index + 1]
                return EntityLocation(located(child), depth: depth, section: section, bodySection: section)
            }
        }
        guard let message = try part.entity.embeddedMessage(in: part.source) else { return [] }
        let place = section.isEmpty ? [1] : section
        return [EntityLocation(located(message), depth: depth + 1, section: place, bodySection: place + [1])]
    }

    /// The position of `content`, which is inside the layer that begins here.
    func inside(_ content: LocatedEntity) -> EntityLocation {
        EntityLocation(content, depth: depth + 1, section: section, bodySection: bodySection)
    }

    /// The position of `content`, which is the signed part of this multipart/signed.
    func signedPart(_ content: Entity) -> EntityLocation {
        let section = section + [1]
        return EntityLocation(located(content), depth: depth + 1, section: section, bodySection: section)
    }

    private func located(_ entity: Entity) -> LocatedEntity { LocatedEntity(entity: entity, source: part.source) }
}

/// A layer that was found in a message but not opened yet.
struct FoundLayer: Sendable {
    /// The entity whose body is the CMS object.
    let object: Entity
    /// The signed entity of a multipart/signed; nil if the content is inside the object.
    var content: Entity?
    /// The smime-type in lower case; nil if there is none.
    var declaredType: String?
    /// Whether the file names in the header permit that the object is a signature; see `EntityProtection.cms`.
    var isNamed = true
    let source: any ByteSource
    /// The section of the CMS object (RFC 3501 §6.4.5).
    let section: [Int]

    /// Opens the layer as far as possible without keys.
    ///
    /// - Parameter isMail: whether the layer is in mail.
    /// - Throws: `MessageError.malformed` if the layer contradicts its header, `CMSError`, and errors of reading.
    func opened(isMail: Bool) throws -> Layer {
        if let content { return .signed(try SignedLayer(content: content, signature: object, in: source)) }
        let padding = PaddingWatch()
        let layer = try Layer(
            cms: object.decodedBody(of: source) { padding.note() },
            declared: declaredType,
            padding: padding,
            content: isMail ? .entity : .anythingProven
        )
        if case .signed = layer, !isNamed { throw MessageError.otherName }
        return layer
    }
}
