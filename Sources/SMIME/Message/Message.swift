package import ByteStreams
public import CMSSyntax
public import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A mail, and what is to be done to it when it is written.
///
/// A value: `signed` and `encrypted` give another message and leave this one as it is. Signing and encrypting happen while the
/// message is written, in windows, so memory does not grow with it.
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

    /// The header as the message has it now; protection that is still to be written changes it outside.
    public var header: HeaderBlock { structure.header }
    let source: any ByteSource
    /// The structure of the source, read once for all operations.
    let structure: Entity
    private var headers = HeaderPolicy()
    private var protection = Protection.none

    package init(_ source: any ByteSource) throws(SMIMEError) {
        self.source = source
        structure = try SMIMEError.catching { try MIMEReader.message(in: source) }
    }

    /// - Throws: `.limitExceeded` for a header beyond a limit.
    public init(_ bytes: some Sequence<UInt8>) throws(SMIMEError) { try self.init(MemorySource(Array(bytes))) }

    /// A message in a file, of any size. The file must not change while the message is used.
    ///
    /// - Throws: `.file`; as for bytes.
    public init(contentsOf path: String) throws(SMIMEError) {
        try self.init(try SMIMEError.catching { try FileSource(path: path) })
    }

    /// A message that comes in pieces: kept in memory up to 1 MB, beyond that in an unlinked file.
    ///
    /// - Throws: what `chunks` throws; `.file` if the file cannot be written; as for bytes.
    public init<Chunks: AsyncSequence>(_ chunks: Chunks) async throws where Chunks.Element: Sequence<UInt8> {
        let spool = Spool()
        for try await chunk in chunks { try SMIMEError.catching { try spool.write(Array(chunk)) } }
        try self.init(try SMIMEError.catching { try spool.finish() })
    }

    /// The message, to be signed by `identity`.
    ///
    /// - Parameters:
    ///   - identity: the signer.
    ///   - form: whether programs without S/MIME can show the content (detached), or it is inside the signature (opaque).
    ///   - time: the signing time, for which the certificate is checked, too.
    /// - Throws: `.unusableSigner` for a certificate that may not sign mail, is weak or not valid at `time`, or does not
    ///   name the one address in From; what writing throws, if the message is encrypted already.
    public func signed(
        by identity: Identity,
        as form: SignatureForm = .detached,
        at time: Date = .now
    ) throws(SMIMEError) -> Message {
        try SMIMEError.catching { try CertificateFitness.checkSigner(identity, of: header, at: time) }
        var message = try settled()
        message.protection = .signed(SignedDataWriter.Signer(identity), form, time)
        return message
    }

    /// The message, encrypted. A signature that was added before is inside.
    ///
    /// - Parameters:
    ///   - recipients: everyone who can decrypt it; the sender only if named here.
    ///   - cipher: nil chooses the best one that all recipients announce, or AES-256-GCM.
    ///   - time: the time that `Recipient` was checked for; it is not in the message.
    /// - Throws: `.noCommonCipher`; writing throws if the message is already encrypted.
    public func encrypted(
        to recipients: [Recipient],
        cipher: ContentCipher? = nil,
        at time: Date = .now
    ) throws(SMIMEError) -> Message {
        let cipher = try recipients.commonCipher(demanded: cipher)
        var message = self
        var signer: (SignedDataWriter.Signer, SignatureForm)?
        switch protection {
        case .none: break
        case .signed(let pending, let form, _): signer = (pending, form)
        case .encrypted: message = try settled()
        }
        message.protection = .encrypted(recipients, cipher, signedBy: signer, signingTime ?? time)
        return message
    }

    /// The same for certificates, each of which is checked as of now.
    ///
    /// - Throws: `.unusableRecipient` for a certificate that `Recipient` rejects; `.noCommonCipher`.
    public func encrypted(to certificates: Certificate...) throws(SMIMEError) -> Message {
        try encrypted(to: certificates.map { certificate throws(SMIMEError) in try Recipient(certificate) })
    }

    /// The same message, whose header is treated by `policy` when it is signed or encrypted (RFC 9788).
    public func protectingHeader(_ policy: HeaderPolicy) -> Message {
        var message = self
        message.headers = policy
        return message
    }

    /// Writes the message, signed and encrypted as was asked for, in pieces that fit in memory.
    ///
    /// Between the pieces it looks whether the task was cancelled.
    ///
    /// - Throws: `.malformed` for a header that other programs read differently, `.unsupported` for a key that cannot be used,
    ///   `.file`, `.cancelled`; what `sink` throws, as `underlyingError` of a `.bug` if it is no `SMIMEError`.
    public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

    /// Writes the message into a file, which appears whole or not at all.
    ///
    /// - Throws: `.file`; as for a sink.
    public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path, isPrivate: false) }

    /// The message's bytes, for one that fits in memory.
    ///
    /// - Throws: as for a sink.
    public func bytes() throws(SMIMEError) -> [UInt8] { try allBytes() }

    private var signingTime: Date? {
        if case .signed(_, _, let time) = protection { time } else { nil }
    }

    /// A message that `write` writes.
    package init(_ write: (any ByteSink) throws -> Void) throws(SMIMEError) {
        try self.init(
            try SMIMEError.catching {
                let spool = Spool()
                try write(spool)
                return try spool.finish()
            }
        )
    }

    /// The message as a sending agent protects it, after all choices are made.
    ///
    /// - Parameter recipients: if empty, the message is only signed.
    package func protected(
        by signer: SignedDataWriter.Signer?,
        to recipients: [Recipient] = [],
        cipher: ContentCipher = .aes256GCM,
        at time: Date
    ) throws(SMIMEError) -> Message {
        var message = try settled()
        if !recipients.isEmpty {
            message.protection = .encrypted(recipients, cipher, signedBy: signer.map { ($0, .detached) }, time)
        } else if let signer {
            message.protection = .signed(signer, .detached, time)
        }
        return message
    }

    /// The bytes that it would be written as.
    package func settledSource() throws(SMIMEError) -> any ByteSource { try settled().source }

    /// A message whose source is what this one would be written as.
    func settled() throws(SMIMEError) -> Message {
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
            try MessageProtector(source, structure: structure, headers: headers).sign(
                by: signer,
                as: form,
                at: time,
                to: sink
            )
        case .encrypted(let recipients, let cipher, let signer, let time):
            try MessageProtector(source, structure: structure, headers: headers)
                .encrypt(to: recipients, cipher: cipher, signedBy: signer, at: time, to: sink)
        }
    }
}
