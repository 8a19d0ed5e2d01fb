package import ByteStreams
package import CMSSyntax
package import InternetMessage
package import PKIX
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Signs and encrypts whole messages.
///
/// The message's header fields stay outside in their order. `policy` determines whether they are copied inside, and which
/// of them are hidden outside. The fields that describe the content move into the protected entity.
/// RFC 8551 §3.1-3.6, RFC 9788
package struct MessageProtector: Sendable {
    private let omitted: Set<String>
    /// How the header is protected.
    package let policy: HeaderPolicy
    private let lineEnd: LineEnd
    private let source: any ByteSource
    private let message: Entity
    private let known = DividedOnce()

    /// The divided message. It is computed once for each purpose, so the message that is written is the message that was
    /// checked.
    private final class DividedOnce: Sendable {
        let made = Mutex<(clear: DividedMessage?, encrypted: DividedMessage?)>((nil, nil))
    }

    /// Whether the content is compressed before it is signed or encrypted (RFC 8551 §3.6).
    package var compresses = false

    /// Prepares a message for protection.
    ///
    /// - Parameters:
    ///   - omitting: fields to omit in the output. A Bcc field would reveal the hidden recipients to all others; a caller
    ///     that keeps the field must send the message with a program that reads and removes it.
    ///   - headers: how to protect the header.
    /// - Throws: `MIMEError`, `MessageError.defective` for a header that other programs interpret differently, and errors of
    ///   reading.
    package init(
        _ source: any ByteSource,
        omitting: Set<String> = HeaderField.hiddenRecipientNames,
        headers: HeaderPolicy = HeaderPolicy()
    ) throws {
        try self.init(LocatedEntity(reading: source), omitting: omitting, headers: headers)
    }

    /// Prepares a message whose structure was already read.
    ///
    /// - Throws: `MessageError.defective` for a header that other programs interpret differently.
    package init(
        _ located: LocatedEntity,
        omitting: Set<String> = HeaderField.hiddenRecipientNames,
        headers: HeaderPolicy
    ) throws(MessageError) {
        source = located.source
        omitted = omitting
        policy = headers
        message = located.entity
        // `MessageOpener` never reports such a message as valid, and the text that other programs show as the body would not
        // be encrypted.
        if let defect = message.header.ambiguity { throw MessageError.defective(defect) }
        lineEnd = message.header.lineEnd
    }

    /// - Parameter layers: the number of layers that will be added; it has no effect if the message is only signed.
    func divided(isEncrypted: Bool, layers: Int = 1) throws -> DividedMessage {
        let divided =
            try known.made.withLock { isEncrypted ? $0.encrypted : $0.clear }
            ?? DividedMessage(message, in: source, omitting: omitted, policy: policy, isEncrypted: isEncrypted)
        known.made.withLock { if isEncrypted { $0.encrypted = divided } else { $0.clear = divided } }
        try divided.checkReadable(isEncrypted: isEncrypted, layers: layers)
        return divided
    }

    /// The names of the fields that will not be protected although protection was requested.
    ///
    /// One of these holds:
    /// - The fields cannot be written in 7-bit.
    /// - No field can be protected, because the Content-Type cannot be parsed or the header is too long.
    ///
    /// Fields are never hidden outside unless all fields are inside. An already protected message has no such fields: its
    /// author decided which fields its content contains.
    package func unprotectedNames(isEncrypted: Bool) -> [String] {
        guard let protection = policy.protection(isEncrypted: isEncrypted), message.protection == nil,
            !protection.hidesFields(of: message.header, omitting: omitted)
        else { return [] }
        let split = HeaderSplit(message.header, omitting: omitted, protection: protection)
        guard split.protection == nil else { return split.unprotectedNames }
        return message.header.fields.filter { field in
            HeaderFieldKind(field) == .message && !omitted.contains { field.isNamed($0) }
        }.map(\.name)
    }

    /// The message's header.
    package var header: HeaderBlock { message.header }

    /// Writes the signed message.
    ///
    /// - Parameters:
    ///   - lineEnd: the line ends to write; nil uses the message's own.
    ///   - time: the signing time.
    /// - Throws: `CMSError.unsupported` for a key that cannot sign, `MessageError.malformed` for content that mail transport
    ///   would change in every encoding, `.defective` for content that `MessageOpener` would reject, and errors of reading
    ///   and writing.
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

    /// Writes the encrypted message. If there is a signer, the message is signed before it is encrypted.
    ///
    /// - Throws: `CMSError.unsupported` for a certificate that cannot be used to encrypt, or if there are neither recipients
    ///   nor secrets; `MessageError` and `MIMEError` for a message that `checkForm` rejects; errors of reading and writing.
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

    /// Compresses an entity; the result is a new entity.
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

extension MessageProtector {
    /// Checks that the message can be signed, encrypted or both. Nothing is written.
    ///
    /// - Throws: `MessageError` and `MIMEError.limitExceeded` if `sign` or `encrypt` would reject the message, and errors of
    ///   reading.
    package func checkForm(isSigned: Bool, isEncrypted: Bool) throws {
        let layers = 1 + (isSigned && isEncrypted ? 1 : 0) + (isEncrypted && compresses ? 1 : 0)
        let divided = try divided(isEncrypted: isEncrypted, layers: layers)
        if isSigned { try divided.checkSafe() }
    }
}

/// How a signature is embedded in a message.
@nonexhaustive
public enum SignatureForm: Sendable {
    /// multipart/signed: all mail programs can show the content (RFC 8551 §3.5.3).
    case detached
    /// application/pkcs7-mime: content and signature in one CMS object (RFC 8551 §3.5.2).
    case opaque
}

/// A mail that only contains certificates and revocation lists. It has no signature, so nothing in it is verified.
///
/// RFC 8551 §3.8
package struct CertificatesMessage: Sendable {
    /// The certificates, in the order of the object.
    package let certificates: [Certificate]
    /// The revocation lists, in the order of the object.
    package let certificateLists: [CertificateList]

    /// Reads the message in `source`; nil if its structure cannot be read, or its header does not announce a message of this
    /// kind.
    ///
    /// - Throws: `CMSError`, `MessageError.malformed` if the content contradicts the header, and errors of reading.
    package init?(_ source: any ByteSource) throws {
        guard let message = try? MIMEReader.message(in: source), case .cms("certs-only", _) = message.protection else {
            return nil
        }
        let data = try SignedData(reading: message.decodedBody(of: source))
        guard data.signers.isEmpty else {
            throw MessageError.malformed("smime-type says certs-only, but there is a signature")
        }
        certificates = data.certificates
        certificateLists = data.revocationEvidence.certificateLists
        guard !certificates.isEmpty || !certificateLists.isEmpty else {
            throw MessageError.malformed("smime-type says certs-only, but there are no certificates")
        }
    }
}
