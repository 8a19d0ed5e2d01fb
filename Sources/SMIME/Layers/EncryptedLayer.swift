import ByteStreams
import CMSSyntax
import InternetMessage
package import PKIX

/// An encrypted entity, opened as far as its recipients.
///
/// The caller finds the private key of one of `recipientIdentifiers`, and then calls `decrypt`.
package struct EncryptedLayer: Sendable {
    /// The allowed kinds of plaintext.
    enum Content {
        /// Anything, as in a bare CMS object.
        case anything
        /// Anything if tag or key wrap show that the key was the right one, else a MIME entity or clean text: an object that
        /// merely travels in MIME, as openssl writes it. Padding alone passes one wrong key of 256.
        case anythingProven
        /// A MIME entity or clean text, as in mail.
        case entity
    }

    let data: EnvelopedData
    private let permitted: Content
    private let padding: PaddingWatch?
    private let declaredDefects: [Problem]

    /// Warnings about the encoded bytes; complete after decryption.
    var defects: [Problem] { padding?.problems ?? [] }

    /// The certificates that open it, in the order of the message, each once.
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

    /// The layer in the report.
    var layer: VerificationReport.Layer {
        let isAuthenticated = data.isAuthenticated
        return VerificationReport.Layer(
            kind: isAuthenticated ? .authenticatedEncrypted : .encrypted,
            algorithm: data.algorithm,
            problems: declaredDefects
                + (isAuthenticated
                    ? [] : [Problem(.unauthenticated, "the encryption does not protect against changes")])
        )
    }

    /// Decrypts with the first key that a recipient names; one is tried and no other.
    ///
    /// - Throws: `MessageError.notARecipient`, `MessageError.needsSecret`; `CMSError.decryptionFailed` for every fault after that.
    func decrypt(with identity: Identity?) throws -> Plaintext {
        let named = data.recipients.first { recipient in
            identity.flatMap { recipient.identifier?.matches($0.certificate) } == true
        }
        if let identity, let named { return try plaintext(data.key(for: named, with: identity.key)) }
        throw recipientIdentifiers.isEmpty && data.recipients.contains(where: \.isForSecret)
            ? MessageError.needsSecret : .notARecipient
    }

    /// Whether a RecipientInfo is for a secret of this kind.
    func mayOpen(with secret: SharedSecret) -> Bool { data.recipients.contains { secret.matches($0) } }

    /// Decrypts with the first RecipientInfo for a secret of this kind; no other one is tried.
    ///
    /// - Throws: as `decrypt(with:)`.
    func decrypt(with secret: SharedSecret) throws -> Plaintext {
        guard let recipient = data.recipients.first(where: { secret.matches($0) }) else {
            throw MessageError.notARecipient
        }
        return try plaintext(data.key(for: recipient, with: secret))
    }

    private func mayHoldAnything(_ key: ContentKey) -> Bool {
        switch permitted {
        case .anything: true
        case .anythingProven: data.isAuthenticated || key.isProven
        case .entity: false
        }
    }

    private func plaintext(_ key: ContentKey) throws -> Plaintext {
        var observer = PlaintextObserver()
        let checked = Result {
            try data.check(with: key) {
                observer = PlaintextObserver()
                return observer
            }
        }
        // Evaluated in any case: otherwise the time would reveal that the padding was right and only the content wrong.
        let startsEntity = observer.startsEntity
        let isCleanText = observer.isCleanText
        let content = try checked.get().content
        if startsEntity, let header = observer.header {
            return Plaintext(
                content: content,
                header: header,
                bodyStart: header.separatorRange.upperBound,
                mayHoldBinary: observer.mayHoldBinary,
                mayHoldLegacyDisplay: observer.mayHoldLegacyDisplay
            )
        }
        guard isCleanText || mayHoldAnything(key) else { throw CMSError.decryptionFailed }
        guard permitted == .entity else {
            return Plaintext(content: content, problems: permitted == .anything || !isCleanText ? [] : [Self.noHeader])
        }
        return Plaintext(content: content, header: try Self.textHeader(), problems: [Self.noHeader])
    }

    private static let noHeader = Problem(
        .noMIMEHeader,
        "what was encrypted has no MIME header, and is taken for plain text"
    )

    /// The header that clean text gets in place of the one that it lacks.
    private static func textHeader() throws(MIMEError) -> HeaderBlock {
        let fields = [
            NewField("Content-Type", value: "text/plain", parameters: [.init("charset", value: "utf-8")]),
            NewField("Content-Transfer-Encoding", value: "8bit"),
        ]
        return try HeaderBlock(parsing: fields.flatMap { $0.bytes(lineEnd: .crlf) } + LineEnd.crlf.bytes)
    }
}

/// Plaintext that was checked, and the header at its beginning.
struct Plaintext: Sendable {
    let content: CheckedContent
    /// The header of the decrypted entity. Plain text without a header gets one; nil if the plaintext is neither an entity nor
    /// text.
    var header: HeaderBlock?
    /// The start of the body in the plaintext; clean text is all body.
    var bodyStart = 0
    /// Whether a part may be binary, so that its line ends must not be touched.
    var mayHoldBinary = false
    /// Whether a part may have hidden header fields in its text.
    var mayHoldLegacyDisplay = false
    /// Warnings about it.
    var problems: [Problem] = []

    /// The plaintext in a spool of its own, to look at its structure.
    func spooled() throws -> LocatedEntity {
        let spool = Spool()
        try content.stream.makeReader().copy(to: spool)
        let source = try spool.finish()
        return LocatedEntity(entity: try MIMEReader.message(in: source), source: source)
    }
}
