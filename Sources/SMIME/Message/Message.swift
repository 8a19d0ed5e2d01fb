package import ByteStreams
public import CMSSyntax
public import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A mail, together with the protection that is applied when the mail is written.
///
/// A value type: `signed` and `encrypted` return another message and do not change this one. The message is signed and
/// encrypted in windows while it is written, so the memory used does not depend on its size.
///
/// ```swift
/// try mail.signed(by: alice).encrypted(to: bob, alice.certificate).write(to: "secret.eml")
/// ```
public struct Message: Sendable {
    /// The protection that writing adds to the source.
    private enum Protection: Sendable {
        case none
        case signed(SignedDataWriter.Signer, SignatureForm, Date)
        case encrypted([Recipient], ContentCipher, signedBy: (SignedDataWriter.Signer, SignatureForm)?, Date)
    }

    /// The current header of the message. Protection changes the outer header only when the message is written.
    public var header: HeaderBlock { structure.header }
    let source: any ByteSource
    /// The structure of the source. It is read once and used for all operations.
    let structure: Entity
    private var headers = HeaderPolicy()
    private var protection = Protection.none

    package init(_ source: any ByteSource) throws(SMIMEError) {
        self.source = source
        structure = try SMIMEError.catching { try MIMEReader.message(in: source) }
    }

    /// - Throws: `.limitExceeded` if a header exceeds a limit.
    public init(_ bytes: some Sequence<UInt8>) throws(SMIMEError) { try self.init(MemorySource(Array(bytes))) }

    /// A message in a file of any size. The file must not change while the message is used.
    ///
    /// - Throws: `.file`; the errors of reading from bytes.
    public init(contentsOf path: String) throws(SMIMEError) {
        try self.init(try SMIMEError.catching { try FileSource(path: path) })
    }

    /// The message with a signature by `identity`. If the message is encrypted already, the signature covers the ciphertext and
    /// does not prove who wrote the content: sign first, then encrypt.
    ///
    /// - Parameters:
    ///   - identity: the signer.
    ///   - form: whether programs without S/MIME can show the content (detached), or the content is inside the signature
    ///     (opaque).
    ///   - time: the signing time, at which the certificate must also be valid.
    /// - Throws: `.unusableSigner` for a certificate that does not permit signing mail, is weak, has a key that libcrypto does
    ///   not support, is not valid at `time`, or does not name the one address in From, and for a From that is not exactly one
    ///   mailbox that all programs interpret alike; errors of writing, if `signed` or `encrypted` was already called for the
    ///   message.
    public func signed(
        by identity: Identity,
        as form: SignatureForm = .detached,
        at time: Date = .now
    ) throws(SMIMEError) -> Message {
        try SMIMEError.catching { try CertificateFitness.checkSigner(identity, of: header, at: time) }
        var message = try applyingProtection()
        message.protection = .signed(SignedDataWriter.Signer(identity), form, time)
        return message
    }

    /// The message with encryption. A signature that was added before is inside the encryption.
    ///
    /// - Parameters:
    ///   - recipients: everyone who can decrypt the message. The sender can decrypt it only as one of the recipients.
    ///   - cipher: the cipher; nil chooses the best cipher that all recipients announce, or AES-256-GCM.
    /// - Throws: `.noCommonCipher`; `.cipherBelowFloor` for a cipher that smime only reads; errors of writing, if
    ///   `encrypted` was already called for the message.
    public func encrypted(
        to recipients: [Recipient],
        cipher: ContentCipher? = nil
    ) throws(SMIMEError) -> Message {
        let cipher = try recipients.commonCipher(demanded: cipher)
        var message = self
        var signer: (SignedDataWriter.Signer, SignatureForm)?
        var signingTime = Date.now
        switch protection {
        case .none: break
        case .signed(let pending, let form, let time): (signer, signingTime) = ((pending, form), time)
        case .encrypted: message = try applyingProtection()
        }
        message.protection = .encrypted(recipients, cipher, signedBy: signer, signingTime)
        return message
    }

    /// The message with encryption to the owners of `certificates`, which are checked as of now.
    ///
    /// - Throws: `.unusableRecipient` for a certificate that `Recipient` rejects; the errors of `encrypted(to:cipher:)`.
    public func encrypted(to certificates: Certificate...) throws(SMIMEError) -> Message {
        try encrypted(to: certificates.map { certificate throws(SMIMEError) in try Recipient(certificate) })
    }

    /// The same message with `policy` for its header when it is signed or encrypted (RFC 9788).
    public func protectingHeader(_ policy: HeaderPolicy) -> Message {
        var message = self
        message.headers = policy
        return message
    }

    /// Signs and encrypts the message as requested and writes the result, in pieces that fit in memory.
    ///
    /// If the task is cancelled, writing ends between two pieces. After an error the pieces that were written must not be used.
    ///
    /// - Throws: `.malformed` for a message that other programs interpret differently or that mail transport would change,
    ///   `.limitExceeded` for too deep nesting, `.unsupported` for a key that cannot be used or if `encrypted` got no
    ///   recipients, `.file`, `.cancelled`; `.callback` with the error that `sink` throws, unless that is an `SMIMEError`.
    public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

    /// Writes the message into a file of mode 0600. The file appears only when it is complete, unless `path` is a pipe or
    /// device.
    ///
    /// - Throws: `.file`; the errors of writing to a sink.
    public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path) }

    /// The bytes of the message, which must fit in memory.
    ///
    /// - Throws: the errors of writing to a sink.
    public func bytes() throws(SMIMEError) -> [UInt8] { try allBytes() }

    /// A message whose bytes are the output of `write`.
    package init(_ write: (any ByteSink) throws -> Void) throws(SMIMEError) {
        try self.init(
            try SMIMEError.catching {
                let spool = Spool()
                try write(spool)
                return try spool.finish()
            }
        )
    }

    /// The message with the protection that a sending agent applies after all choices were made.
    ///
    /// - Parameter recipients: the recipients; if empty, the message is only signed.
    package func protected(
        by signer: SignedDataWriter.Signer?,
        to recipients: [Recipient] = [],
        cipher: ContentCipher = .aes256GCM,
        at time: Date
    ) throws(SMIMEError) -> Message {
        var message = try applyingProtection()
        if !recipients.isEmpty {
            message.protection = .encrypted(recipients, cipher, signedBy: signer.map { ($0, .detached) }, time)
        } else if let signer {
            message.protection = .signed(signer, .detached, time)
        }
        return message
    }

    /// The message without the fields that name hidden recipients. Signing and encrypting omit these fields, too.
    ///
    /// - Throws: `.malformed` if the text after the header would become fields; errors of reading and writing.
    package func withoutHiddenRecipients() throws(SMIMEError) -> Message {
        let message = try applyingProtection()
        let header = message.header
        guard header.fields.contains(where: \.namesHiddenRecipients) else { return message }
        let kept = header.fields.filter { !$0.namesHiddenRecipients }.flatMap(\.rawBytes)
        let head = Array(header.leadingBytes) + kept
        let changed = try Message(RewrittenSource(head, message.source, after: header.range.upperBound))
        // If every field is removed, the line that ended the header becomes the first line. An mbox From line is allowed
        // there, so the text after it would become fields.
        guard changed.header.bytes.count == head.count else {
            throw SMIMEError(MessageError.defective(.hiddenFields))
        }
        return changed.protectingHeader(headers)
    }

    /// The bytes that `write` would write, with their structure.
    package func outputEntity() throws(SMIMEError) -> LocatedEntity { try applyingProtection().located }

    private var located: LocatedEntity { LocatedEntity(entity: structure, source: source) }

    /// A message whose source is the output that this message would write.
    func applyingProtection() throws(SMIMEError) -> Message {
        if case .none = protection { return self }
        return try Message { try write(to: $0) }.protectingHeader(headers)
    }
}

extension Message: WritableContent {
    package func write(to sink: any ByteSink) throws {
        switch protection {
        case .none:
            try source.reader().copy(to: sink)
            try source.checkUnchanged()
        case .signed(let signer, let form, let time):
            try MessageProtector(located, headers: headers).sign(
                by: signer,
                as: form,
                at: time,
                to: sink
            )
        case .encrypted(let recipients, let cipher, let signer, let time):
            try MessageProtector(located, headers: headers)
                .encrypt(to: recipients, cipher: cipher, signedBy: signer, at: time, to: sink)
        }
    }
}

/// Content that can be written to a sink, to a file, or to memory.
package protocol WritableContent {
    func write(to sink: any ByteSink) throws
}

extension WritableContent {
    func writeAll(to sink: (RawSpan) throws -> Void) throws(SMIMEError) {
        try SMIMEError.catching {
            try withoutActuallyEscaping(sink) { sink in
                let sink = ClosureSink { bytes in
                    do { try sink(bytes.bytes) } catch { throw SMIMEError(thrownByCaller: error) }
                }
                try write(to: sink)
            }
        }
    }

    func writeAll(toFile path: String) throws(SMIMEError) {
        try SMIMEError.catching {
            let output = try OutputFile(path: path, isPrivate: true)
            try write(to: output)
            try output.commit()
        }
    }

    func allBytes() throws(SMIMEError) -> [UInt8] {
        try SMIMEError.catching {
            let sink = MemorySink()
            try write(to: sink)
            return sink.bytes
        }
    }
}
