import ByteStreams
import CMSSyntax
import InternetMessage
package import PKIX

/// An encrypted entity whose structure was read up to the content, including the recipients.
///
/// The caller finds the private key of one of `recipientIdentifiers` and then calls `decrypt`.
package struct EncryptedLayer: Sendable {
    /// The allowed kinds of plaintext.
    enum Content {
        /// Any bytes, for a bare CMS object.
        case anything
        /// Any bytes if the authentication tag or the key wrap shows that the key is right; otherwise a MIME entity or clean
        /// text, because the padding alone would accept one in 256 wrong keys. For an object whose header has only MIME
        /// fields, as openssl writes it: its content need not be MIME.
        case anythingProven
        /// A MIME entity or clean text, for mail.
        case entity
    }

    let data: EnvelopedData
    private let permitted: Content
    private let padding: PaddingWatch?
    private let declaredDefects: [Problem]

    /// Warnings about the encoding of the bytes; complete after decryption.
    var defects: [Problem] { padding?.problems ?? [] }

    /// The identifiers of the recipients' certificates, in the order of the message, without duplicates.
    package var recipientIdentifiers: [EntityIdentifier] {
        var seen: Set<EntityIdentifier> = []
        return data.recipients.compactMap(\.identifier).filter { seen.insert($0).inserted }
    }

    /// Opens an encrypted CMS object.
    init(
        cms stream: ByteStream,
        padding: PaddingWatch? = nil,
        content: Content,
        defects: [Problem] = []
    ) throws {
        data = try EnvelopedData(reading: stream)
        self.padding = padding
        permitted = content
        declaredDefects = defects
    }

    /// The entry for this layer in the report.
    var layer: VerificationReport.Layer {
        var problems = declaredDefects
        if data.hasHistoricCipher {
            problems.append(Problem(.weakCipher, "the cipher \(data.algorithm) is too weak to keep the content secret"))
        }
        if !data.isAuthenticated {
            problems.append(Problem(.unauthenticated, "the encryption does not protect against changes"))
        }
        return VerificationReport.Layer(
            kind: data.isAuthenticated ? .authenticatedEncrypted : .encrypted,
            algorithm: data.algorithm,
            problems: problems
        )
    }

    /// Decrypts with the first supported RecipientInfo that names the certificate of `identity`. No other RecipientInfo is
    /// tried. Everyone can see which ones are supported, so this choice reveals nothing.
    ///
    /// - Throws: `MessageError.notARecipient`, `MessageError.needsSecret`; `CMSError.unsupported` for an unknown algorithm,
    ///   `.malformed` for a cipher in the wrong structure, `.limitExceeded`; errors of reading; `CMSError.decryptionFailed` for
    ///   every other fault.
    func decrypt(with identity: Identity?) throws -> Plaintext {
        let all = data.recipients.filter { recipient in
            identity.flatMap { recipient.identifier?.matches($0.certificate) } == true
        }
        let named = all.first(where: \.isSupported) ?? all.first
        if let identity, let named { return try plaintext(data.key(for: named, with: identity.key)) }
        throw recipientIdentifiers.isEmpty && data.recipients.contains(where: \.isForSecret)
            ? MessageError.needsSecret : .notARecipient
    }

    /// Whether a RecipientInfo matches the secret: the same kind and, if the secret has an identifier, the same identifier.
    func mayOpen(with secret: SharedSecret) -> Bool { data.recipients.contains { secret.matches($0) } }

    /// Decrypts with the first RecipientInfo that matches the secret. No other RecipientInfo is tried.
    ///
    /// - Throws: the errors of `decrypt(with:)`.
    func decrypt(with secret: SharedSecret) throws -> Plaintext {
        guard let recipient = data.recipients.first(where: { secret.matches($0) }) else {
            throw MessageError.notARecipient
        }
        return try plaintext(data.key(for: recipient, with: secret))
    }

    private func mayHoldAnything(_ key: ContentKey) -> Bool {
        switch permitted {
        case .anything: true
        case .anythingProven: data.isAuthenticated || key.isVerified
        case .entity: false
        }
    }

    private func plaintext(_ key: ContentKey) throws -> Plaintext {
        // Without a tag, only the content shows whether the key was right: it must begin like an entity, or be clean text
        // to its end.
        var observer = PlaintextObserver(checksText: !data.isAuthenticated)
        let checked = Result {
            try data.check(with: key) {
                observer = PlaintextObserver(checksText: !data.isAuthenticated)
                return observer
            }
        }
        // Evaluated in every case; otherwise the duration would reveal that the padding was correct and only the content was
        // not. For the same reason the content is used up to the end even if the padding is wrong.
        let startsEntity = observer.startsEntity
        let observedText = observer.isCleanText
        let content: CheckedContent
        do { content = try checked.get().content } catch CMSError.decryptionFailed {
            content = try data.substitute(with: key)
        }
        if startsEntity, let header = observer.header {
            let bodyStart = header.separatorRange.upperBound
            return Plaintext(content: content, header: header, bodyStart: bodyStart, problems: content.problems)
        }
        guard permitted != .anything else { return Plaintext(content: content, problems: content.problems) }
        let isCleanText = try observedText ?? content.isCleanText()
        guard isCleanText || mayHoldAnything(key) else { throw CMSError.decryptionFailed }
        guard permitted == .entity else {
            return Plaintext(content: content, problems: content.problems + (isCleanText ? [Self.noHeader] : []))
        }
        return Plaintext(content: content, header: try Self.textHeader(), problems: content.problems + [Self.noHeader])
    }

    private static let noHeader = Problem(
        .noMIMEHeader,
        "what was encrypted has no MIME header, and is treated as plain text"
    )

    /// The header for clean text that has no header of its own.
    private static func textHeader() throws(MIMEError) -> HeaderBlock {
        let fields = [
            NewField("Content-Type", value: "text/plain", parameters: [.init("charset", value: "utf-8")]),
            NewField("Content-Transfer-Encoding", value: "8bit"),
        ]
        return try HeaderBlock(parsing: fields.flatMap { $0.bytes(lineEnd: .crlf) } + LineEnd.crlf.bytes)
    }
}

/// Plaintext whose integrity was checked, or a substitute if the padding was wrong, and the header at its start.
struct Plaintext: Sendable {
    let content: CheckedContent
    /// The header of the decrypted entity. In mail, clean text without a header gets one. Nil for other plaintext that is
    /// not an entity.
    var header: HeaderBlock?
    /// The start of the body in the plaintext; 0 for clean text without a header.
    var bodyStart = 0
    /// Warnings about the plaintext.
    var problems: [Problem] = []

    /// Searches the whole plaintext for marks of its parts, or only the header if the plaintext has no parts.
    func marks() throws -> PartMarks {
        let marks = PartMarks()
        if let header, !header.mayHaveParts {
            marks.write(header.bytes.octets)
        } else {
            try content.stream.makeReader().copy(to: marks)
        }
        return marks
    }

    /// Writes the plaintext to a temporary file and reads its structure.
    func spooled() throws -> LocatedEntity {
        let spool = Spool()
        try content.stream.makeReader().copy(to: spool)
        let source = try spool.finish()
        return try LocatedEntity(reading: source)
    }
}

extension CheckedContent {
    /// Whether the whole plaintext is clean text.
    fileprivate func isCleanText() throws -> Bool {
        let observer = PlaintextObserver(checksText: true)
        try stream.makeReader().copy(to: observer)
        return observer.isCleanText == true
    }
}

extension HeaderBlock {
    /// Whether a Content-Type field names a multipart or a message, or cannot be read.
    var mayHaveParts: Bool {
        all("Content-Type").contains { field in
            ContentType(field: field).map { $0.isMultipart || $0.isMessage } ?? true
        }
    }
}
