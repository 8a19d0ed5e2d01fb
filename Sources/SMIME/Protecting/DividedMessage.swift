import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX
import Synchronization

/// A message divided into the outer header and the entity to protect.
struct DividedMessage: Sendable {
    let split: HeaderSplit
    let message: Entity
    let source: any ByteSource
    /// The message before a legacy display was added, or before it was wrapped to hide its header fields.
    private let original: LocatedEntity
    private let known = FormOnce()

    /// The 7-bit form of the protected entity. Once `checkSafe` has computed the form, `safeContent` writes that form.
    private final class FormOnce: Sendable {
        let found = Mutex<SevenBitEncoding?>(nil)
    }

    /// Divides `message`.
    ///
    /// An already protected message keeps its outer header, because the fields belong to the innermost content. But if fields
    /// are hidden outside, their only copies are in the header of the protected message: the content cannot be changed without
    /// breaking the signature. A message whose header cannot hold copies is wrapped to hide its fields.
    ///
    /// RFC 9788 §5.1, RFC 8551 §3.1
    init(
        _ message: Entity,
        in source: any ByteSource,
        omitting omitted: Set<String>,
        policy: HeaderPolicy,
        isEncrypted: Bool
    ) throws {
        let given = LocatedEntity(entity: message, source: source)
        original = given
        var (message, source) = (message, source)
        var protection = policy.protection(isEncrypted: isEncrypted)
        let hidesFields = protection?.hidesFields(of: message.header, omitting: omitted) ?? false
        if message.protection != nil, !hidesFields { protection = nil }
        if message.protection == nil, protection != nil, let clean = try LegacyDisplay.unmarking(message, in: source) {
            (message, source) = (try MIMEReader.message(in: clean), clean)
        }
        // The text of a protected message is the text of its signature, so nothing is inserted there.
        if message.protection == nil, let wanted = protection, policy.hasLegacyDisplay {
            let hidden = wanted.hiddenFields(of: message.header).filter { field in
                !omitted.contains { field.isNamed($0) }
            }
            if let shown = try LegacyDisplay.adding(hidden, to: message, in: source) {
                (message, source) = (try MIMEReader.message(in: shown), shown)
                protection = policy.protection(isEncrypted: isEncrypted, hasLegacyDisplay: true)
            }
        }
        if protection != nil, message.header.first("Content-Type") == nil {
            let reader = source.reader(in: message.bodyRange)
            protection?.undeclaredCharset = try UndeclaredCharset(of: reader)
        }
        let split = HeaderSplit(message.header, omitting: omitted, protection: protection)
        guard hidesFields, try !given.canHide(by: split) else {
            (self.message, self.source, self.split) = (message, source, split)
            return
        }
        let wrapped = try given.wrapped(omitting: omitted)
        (self.message, self.source) = (wrapped.entity, wrapped.source)
        self.split = HeaderSplit(wrapped.entity.header, omitting: omitted, hiding: protection)
    }

    /// The protected entity in canonical form, with its original bytes apart from line ends.
    var plainContent: ReplayableContent {
        let stream = split.canonicalEntity(of: message, in: source)
        return ReplayableContent { try stream.makeReader().copy(to: $0) }
    }

    /// The protected entity in a form that mail transport does not change, with its digest if the first pass computed the
    /// digest.
    func safeContent(_ algorithm: DigestAlgorithm) throws -> ReplayableContent {
        if let form = known.found.withLock({ $0 }) {
            try checkSafe(form)
            return ReplayableContent { try form.write(to: $0) }
        }
        let (form, digest, count) = try safeForm(algorithm)
        try checkSafe(form)
        return ReplayableContent(digest: form.wasCopied ? (algorithm, digest, count) : nil) { try form.write(to: $0) }
    }

    /// Requires that the protected entity has a form that mail transport does not change.
    ///
    /// - Throws: `MessageError.malformed` if there is no such form, `MIMEError.limitExceeded`, and errors of reading.
    func checkSafe() throws {
        let form =
            try known.found.withLock { $0 } ?? SevenBitEncoding(of: message, in: source, split: split)
        known.found.withLock { $0 = form }
        try checkSafe(form)
    }

    private func checkSafe(_ form: SevenBitEncoding) throws {
        guard form.unsafeMessages.isEmpty else {
            guard !message.contentType.isMessage || original.entity.contentType.isMessage else {
                throw MessageError.malformed(
                    "the header has non-ASCII characters, long lines or an mbox From line, which cannot be signed unchanged while header fields are hidden"
                )
            }
            throw MessageError.malformed(
                "the header of an attached message has non-ASCII characters, long lines or an mbox From line, which cannot be signed unchanged; attach that message in a ZIP file"
            )
        }
        guard form.unsafeParts.isEmpty else {
            throw MessageError.malformed(
                "a part cannot be signed unchanged, and its type or transfer encoding does not permit another encoding; attach that part in a ZIP file"
            )
        }
    }

    private func safeForm(_ algorithm: DigestAlgorithm) throws -> (SevenBitEncoding, digest: [UInt8], count: Int) {
        var form: SevenBitEncoding?
        let (digest, count) = try SignedDataWriter.digest(algorithm) { sink in
            form = try SevenBitEncoding(of: message, in: source, split: split, copiedTo: sink)
        }
        return (try form ?? SevenBitEncoding(of: message, in: source, split: split), digest, count)
    }
}

extension LocatedEntity {
    /// Whether this message can be read inside the encryption, with the inner header of `split`: the header has the copies of
    /// all fields, and an already protected message is still recognized.
    fileprivate func canHide(by split: HeaderSplit) throws(MIMEError) -> Bool {
        guard split.protection != nil else { return false }
        guard entity.protection != nil else { return true }
        let inner = RewrittenSource(split.innerHeader, source, after: entity.bodyRange.lowerBound)
        switch try MIMEReader.message(in: inner).protection {
        case .cms, .multipartSigned: return true
        case .malformed, nil: return false
        }
    }
}

extension DividedMessage {
    /// Checks that `MessageOpener` will be able to open the protected message.
    ///
    /// - Parameter layers: the number of layers that will be added.
    /// - Throws: `MessageError.defective` for MIME that programs interpret differently, `MessageError.malformed` for a
    ///   protected message that cannot be opened and is to be encrypted once more, `.tooManyLayers`, and errors of reading.
    func checkReadable(isEncrypted: Bool, layers: Int) throws {
        // `hiddenFields` is allowed: an ambiguous header was rejected before, and after the header an empty line is
        // inserted, so the text that follows cannot become fields.
        let defects = original.entity.defects.filter { $0.isError && $0 != .hiddenFields }
        if let defect = defects.min(by: { $0.rawValue < $1.rawValue }) { throw MessageError.defective(defect) }
        guard isEncrypted, original.entity.protection != nil else { return }
        do { try checkLayers(inside: layers) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64, MIMEError.limitExceeded:
                throw MessageError.malformed("it is already protected, and the protection is malformed: \(error)")
            default: throw error
            }
        }
    }

    /// Opens all layers that can be opened without a key.
    private func checkLayers(inside outer: Int) throws {
        var walker = LayerWalker(EntityLocation(original), inside: outer)
        while let step = try walker.next() {
            guard case .signed(let signed) = step.layer else { continue }
            guard signed.content != nil || signed.hasOnlyCertificates else {
                throw MessageError.malformed("a signature without content")
            }
        }
    }
}

extension SevenBitEncoding {
    /// Plans the 7-bit form of `message`'s protected entity, whose header is the inner header of `split`.
    ///
    /// - Throws: `MIMEError.limitExceeded(.depth)` for messages nested too deeply, and errors of reading.
    init(
        of message: Entity,
        in source: any ByteSource,
        split: HeaderSplit,
        copiedTo copy: (any ByteSink)? = nil
    ) throws {
        try self.init(of: message, in: source, header: split.innerHeader(newEncoding:), copiedTo: copy)
    }
}
