package import ByteStreams
package import CMSSyntax
package import InternetMessage
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Signs and encrypts whole messages.
///
/// The message's own header fields stay outside in their order and bytes, and are copied inside; the fields that
/// describe the content move into the protected entity.
/// RFC 8551 §3.1-3.6, RFC 9788
package struct MessageProtector: Sendable {
    private let omitted: Set<String>
    /// How the header is protected.
    package let policy: HeaderPolicy
    private let lineEnd: LineEnd
    private let source: any ByteSource
    private let message: Entity
    private let known = DividedOnce()

    /// The divided message, computed once for each purpose, so that what was checked is what is written.
    private final class DividedOnce: Sendable {
        let made = Mutex<(clear: DividedMessage?, encrypted: DividedMessage?)>((nil, nil))
    }

    /// Whether the content is compressed before anything else is done to it (RFC 8551 §3.6).
    package var compresses = false

    /// Prepares a message for protection.
    ///
    /// - Parameters:
    ///   - omitting: fields to leave out of the output. Bcc would show all other recipients; a caller that keeps it
    ///     must send through a program that reads and removes it.
    ///   - headers: how to protect the header.
    /// - Throws: `MIMEError`, `MessageError.defective` for a header that other programs read differently, and what reading
    ///   throws.
    package init(
        _ source: any ByteSource,
        omitting: Set<String> = ["Bcc", "Resent-Bcc"],
        headers: HeaderPolicy = HeaderPolicy()
    ) throws {
        try self.init(source, structure: MIMEReader.message(in: source), omitting: omitting, headers: headers)
    }

    /// The same for a message of which the structure was read already.
    init(
        _ source: any ByteSource,
        structure: Entity,
        omitting: Set<String> = ["Bcc", "Resent-Bcc"],
        headers: HeaderPolicy
    ) throws(MessageError) {
        self.source = source
        omitted = omitting
        policy = headers
        message = structure
        // `MessageOpener` never reports such a message as valid, and the text that other programs show as the body would stay
        // unencrypted.
        if let defect = message.header.ambiguity { throw MessageError.defective(defect) }
        lineEnd = message.header.lineEnd
    }

    /// - Parameter layers: how many layers are put around the message; for one that is signed only it does not matter.
    func divided(isEncrypted: Bool, layers: Int = 1) throws -> DividedMessage {
        let divided =
            try known.made.withLock { isEncrypted ? $0.encrypted : $0.clear }
            ?? DividedMessage(message, in: source, omitting: omitted, policy: policy, isEncrypted: isEncrypted)
        known.made.withLock { if isEncrypted { $0.encrypted = divided } else { $0.clear = divided } }
        try divided.checkReadable(isEncrypted: isEncrypted, layers: layers)
        return divided
    }

    /// The names of the fields that will stay unprotected though protection was asked for.
    ///
    /// They cannot be written in seven bits; or none is protected as there is a Content-Type that cannot be read.
    package func unprotectedNames(isEncrypted: Bool) -> [String] {
        guard let protection = policy.protection(isEncrypted: isEncrypted) else { return [] }
        // The header of an already signed message stays as it is; the report says so if fields were to be hidden.
        guard message.protection == nil else { return protection.hiddenFields(of: message.header).map(\.name) }
        let split = HeaderSplit(message.header, omitting: omitted, protection: protection)
        guard split.protection == nil else { return split.unprotectedNames }
        return message.header.fields.filter { !$0.isContentField && !omitted.contains($0.name) }.map(\.name)
    }

    /// The message's header.
    package var header: HeaderBlock { message.header }

    /// The message, signed.
    ///
    /// - Parameters:
    ///   - lineEnd: the line ends to write; the message's own if nil.
    ///   - time: the signing time.
    /// - Throws: `CMSError.unsupported` for a key that cannot sign, `MessageError.malformed` for content that cannot be
    ///   made safe, `.defective` for content that `MessageOpener` would refuse, and what reading and writing throw.
    package func sign(
        by signer: SignedDataWriter.Signer,
        as signatureForm: SignatureForm,
        at time: Date,
        to sink: any ByteSink,
        lineEnd: LineEnd? = nil
    ) throws {
        let divided = try divided(isEncrypted: false)
        try write(
            try signedEntity(divided, signer, signatureForm: signatureForm, time: time),
            divided.split,
            to: sink,
            lineEnd: lineEnd
        )
    }

    /// The message, encrypted, and signed before if there is a signer.
    ///
    /// - Throws: `CMSError.unsupported` for a certificate that cannot be encrypted to, and what reading and writing throw.
    package func encrypt(
        to recipients: [Recipient],
        secrets: [SharedSecret] = [],
        cipher: ContentCipher,
        signedBy signer: (SignedDataWriter.Signer, SignatureForm)? = nil,
        at time: Date,
        to sink: any ByteSink,
        lineEnd: LineEnd? = nil
    ) throws {
        let layers = 1 + (signer == nil ? 0 : 1) + (compresses ? 1 : 0)
        let divided = try divided(isEncrypted: true, layers: layers)
        let content =
            try signer.map { try signedEntity(divided, $0.0, signatureForm: $0.1, time: time).content }
            ?? (compresses ? compressed(divided.plainContent) : divided.plainContent)
        let object = try content.enveloped(to: recipients, secrets: secrets, cipher: cipher)
        let type = cipher.isAuthenticated ? "authEnveloped-data" : "enveloped-data"
        try write(ProtectedEntity(cms: object, type: type), divided.split, to: sink, lineEnd: lineEnd)
    }

    private func write(
        _ entity: ProtectedEntity,
        _ split: HeaderSplit,
        to sink: any ByteSink,
        lineEnd: LineEnd?
    ) throws {
        let target = lineEnd ?? self.lineEnd
        let header = split.outerHeader(entity.fields)
        try MemorySource(header).stream().lines(endingIn: target).makeReader().copy(to: sink)
        try entity.body.write(LineEndSink(sink, lineEnd: target))
        try source.checkUnchanged()
    }

    /// An entity, compressed, as an entity of its own.
    private func compressed(_ content: ReplayableContent) throws -> ReplayableContent {
        let writer = try CompressedDataWriter(content: content.write)
        let object = ReplayableContent { try writer.write(to: $0, content: content.write) }
        return ProtectedEntity(cms: object, type: "compressed-data", name: "smime.p7z").content
    }

    private func signedEntity(
        _ divided: DividedMessage,
        _ signer: SignedDataWriter.Signer,
        signatureForm: SignatureForm,
        time: Date
    ) throws -> ProtectedEntity {
        let content = try compresses ? compressed(divided.plainContent) : divided.safeContent(signer.digest)
        let object = try content.signed(by: signer, isOpaque: signatureForm == .opaque, at: time)
        switch signatureForm {
        case .opaque: return ProtectedEntity(cms: object, type: "signed-data")
        case .detached: return ProtectedEntity(content: content, signature: object, digest: signer.digest)
        }
    }
}
