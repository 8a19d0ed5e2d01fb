import ByteStreams
import InternetMessage

/// How S/MIME protects one entity.
///
/// RFC 8551 §3.2, §3.5
enum EntityProtection {
    /// The body is a CMS object. `declaredType` is the `smime-type` of the header, or nil if there is none. `isNamed` is
    /// true if every file name that a program may read from the header has an extension of CMS objects (RFC 8551 §3.2.1).
    case cms(declaredType: String?, isNamed: Bool)
    /// The entity is a multipart/signed: content with a detached signature.
    case multipartSigned(content: Entity, signature: Entity)
    /// The header says that the entity is protected, but the entity must not be treated as protected.
    case malformed(MessageError)
}

extension Entity {
    /// How this entity is protected; nil if the entity is not protected.
    var protection: EntityProtection? { protection(ignoring: []) }

    /// As `protection`, but the defects `ignored` do not make the entity malformed. A repeated Content-Type, or an ambiguous
    /// Content-Type of a CMS object, always does.
    func protection(ignoring ignored: Set<MIMEDefect>) -> EntityProtection? {
        // If there are two Content-Type fields, some programs use the first one and some the last one. The entity is
        // malformed if either field says that it is protected.
        if defects.contains(.duplicateContentType), header.all("Content-Type").contains(where: Self.isSecured) {
            return .malformed(.defective(.duplicateContentType))
        }
        let defect = defects.subtracting(ignored).first(where: \.isError)
        if contentType.name == "multipart/signed" { return multipartSigned(defect) }
        guard
            contentType.isCMS || (contentType.isOctetStream && Self.objectEndings.contains(where: hasFilename))
        else {
            return nil
        }
        if let defect { return .malformed(.defective(defect)) }
        guard contentType.hasPlainName else { return .malformed(.defective(.malformedContentType)) }
        return .cms(
            declaredType: contentType.parameters["smime-type"]?.lowercased(),
            isNamed: isOnlyNamed(Self.objectEndings + [".p7s", ".p7b"])
        )
    }

    /// Whether an entity with the header `header` can be protected.
    static func mayBeSecured(_ header: HeaderBlock) -> Bool {
        let types = header.all("Content-Type")
        if types.contains(where: isSecured) { return true }
        let read = types.compactMap { InternetMessage.ContentType(field: $0) }
        guard read.contains(where: \.isOctetStream) else { return false }
        let names =
            read.map { $0.parameters["name"] }
            + header.all("Content-Disposition").map { ContentDisposition(field: $0)?.filename }
        return names.contains { name in objectEndings.contains { has(name, ending: $0) } }
    }

    /// Whether a Content-Type field says that the entity is protected.
    private static func isSecured(_ field: HeaderField) -> Bool {
        InternetMessage.ContentType(field: field).map { $0.name == "multipart/signed" || $0.isCMS } ?? false
    }

    /// Whether an entity with the header `header` is a message.
    static func isMessage(_ header: HeaderBlock) -> Bool {
        header.first("Content-Type").flatMap { InternetMessage.ContentType(field: $0) }?.isMessage ?? false
    }

    /// Whether the type of this part is that of a detached signature, wherever the part is in the message.
    var isSignature: Bool { contentType.isSignature }

    private func multipartSigned(_ defect: MIMEDefect?) -> EntityProtection? {
        let stated = contentType.parameters["protocol"]?.lowercased()
        let isOurs = stated.map(Self.signatureTypes.contains) ?? children.last?.contentType.isSignature ?? false
        guard isOurs else { return nil }
        if let defect { return .malformed(.defective(defect)) }
        guard children.count == 2 else {
            return .malformed(.malformed("multipart/signed with \(children.count) parts instead of two"))
        }
        let (content, signature) = (children[0], children[1])
        let isNamed = signature.contentType.isOctetStream && signature.hasFilename(".p7s")
        guard signature.contentType.isSignature || isNamed else {
            let name = signature.contentType.name
            return .malformed(.malformed("the second part of multipart/signed is not a signature but \(name)"))
        }
        // Programs that find no type here display the signature. An attacker can put text into its certificates.
        guard signature.contentType.hasPlainName else { return .malformed(.defective(.malformedContentType)) }
        guard signature.isOnlyNamed([".p7s"]) else { return .malformed(.otherName) }
        do throws(MessageError) {
            try signature.checkUnambiguous()
            try content.checkUnambiguous()
        } catch { return .malformed(error) }
        return .multipartSigned(content: content, signature: signature)
    }

    /// Checks that all programs read the entity alike, which they must if it is signed: clear-signed or inside the signed
    /// object.
    ///
    /// - Parameter relevant: the defects to look for; nil for all. Content inside a signed object may have no header at all, so
    ///   what would be a hidden field elsewhere may be its text.
    /// - Throws: `MessageError.defective`
    func checkUnambiguous(in relevant: Set<MIMEDefect>? = nil) throws(MessageError) {
        let found = relevant.map(defects.intersection) ?? defects
        if let defect = found.first(where: \.isError) { throw .defective(defect) }
    }

    fileprivate static let signatureTypes = ["application/pkcs7-signature", "application/x-pkcs7-signature"]

    /// The ends of the names of files that hold a CMS object (RFC 8551 §3.2.1).
    private static let objectEndings = [".p7m", ".p7c", ".p7z"]

    private func hasFilename(_ ending: String) -> Bool { filenames.contains { Self.has($0, ending: ending) } }

    /// Whether every file name that a program may read from the header has one of `endings`. False also if programs may read
    /// different names. A program may save the part under this name, and open it with the application for such files.
    private func isOnlyNamed(_ endings: [String]) -> Bool {
        let fields = header.all("Content-Disposition")
        guard fields.count <= 1, header.first("Content-Location") == nil else { return false }
        let disposition = fields.first.map { ContentDisposition(field: $0) }
        if let disposition, !["attachment", "inline"].contains(disposition?.kind) { return false }
        let lists = [contentType.parameters, disposition??.parameters].compactMap(\.self)
        return lists.allSatisfy { list in
            !list.isAmbiguous && !list.hasErrors && !list.hasSemicolon
                && ["name", "filename"].allSatisfy { name in
                    list.values(of: name)?.allSatisfy { value in
                        // Some programs decode encoded words, or end a name at such characters.
                        !value.utf8.contains { $0 < 32 || "=*?;\"<>".utf8.contains($0) }
                            && endings.contains { Self.has(value, ending: $0) }
                    } == true
                }
        }
    }

    /// The names of the part as a file.
    private var filenames: [String] { [disposition?.filename, contentType.parameters["name"]].compactMap(\.self) }

    private static func has(_ name: String?, ending: String) -> Bool { name?.lowercased().hasSuffix(ending) == true }
}

extension MessageError {
    /// Programs that do not read the signature offer it as a file. An attacker can put text into its certificates.
    static let otherName = MessageError.malformed(
        "the signature is an attachment with another name, or with a name that programs read differently"
    )
}

extension InternetMessage.ContentType {
    /// Whether the body is a CMS object, by the current or the older name of the media type.
    fileprivate var isCMS: Bool { name == "application/pkcs7-mime" || name == "application/x-pkcs7-mime" }

    /// Whether the type is application/octet-stream. This type says nothing about the body, so the file name decides.
    fileprivate var isOctetStream: Bool { name == "application/octet-stream" }

    /// Whether the body is a detached signature.
    fileprivate var isSignature: Bool { Entity.signatureTypes.contains(name) }
}
