public import ByteStreams
public import CMSSyntax
public import Foundation
public import InternetMessage
public import PKIX

/// A mail, and what is to be done to it when it is written.
///
/// A value: `signed` and `encrypted` give another message and leave this one as it is. Signing and encrypting happen while the
/// message is written, in windows, so memory does not grow with it.
///
/// ```swift
/// try mail.signed(by: alice).encrypted(to: bob, alice.certificate).write(to: "secret.eml")
/// ```
public struct Message: Sendable {
    /// What writing does to the source.
    private enum Protection: Sendable {
        case none
        case signed(SignedDataWriter.Signer, SignatureForm, Date)
        case encrypted([Recipient], ContentCipher, signedBy: (SignedDataWriter.Signer, SignatureForm)?, Date)
    }

    /// How a signature is put into the message.
    public typealias SignatureForm = MessageProtector.SignatureForm

    /// The header as the message has it now; protection that is still to be written changes it outside.
    public var header: HeaderBlock { structure.header }
    let source: any ByteSource
    /// What the source holds, read once for everything that is done with the message.
    let structure: Entity
    private var headers = HeaderPolicy()
    private var protection = Protection.none

    /// - Throws: `MIMEError` for a header beyond a limit, and what reading throws.
    public init(_ source: any ByteSource) throws {
        self.source = source
        structure = try MIMEReader.message(in: source)
    }

    /// - Throws: as for a source.
    public init(_ bytes: some Sequence<UInt8>) throws { try self.init(MemorySource(Array(bytes))) }

    /// A message in a file, of any size.
    ///
    /// - Throws: `StreamError.cannotOpen`; as for a source.
    public init(contentsOf path: String) throws { try self.init(FileSource(path: path)) }

    /// A message that comes in pieces: kept in memory up to 1 MB, beyond that in an unlinked file.
    ///
    /// - Throws: what `chunks` throws; `StreamError.spoolFailed`; as for a source.
    public init<Chunks: AsyncSequence>(_ chunks: Chunks) async throws where Chunks.Element: Sequence<UInt8> {
        let spool = Spool()
        for try await chunk in chunks { try spool.write(Array(chunk)) }
        try self.init(spool.finish())
    }

    /// The message, to be signed by `identity`.
    ///
    /// - Parameter time: the signing time, for which the certificate is checked, too.
    /// - Throws: `SMIMEError.unusableSigner` for a certificate that may not sign mail, is weak or not valid at `time`, or does not
    ///   name the one address in From; what writing throws, if the message is encrypted already.
    public func signed(by identity: Identity, as form: SignatureForm = .detached, at time: Date = .now) throws
        -> Message
    {
        try CertificateFitness.checkSigner(identity, of: header, at: time)
        var message = try settled()
        message.protection = .signed(SignedDataWriter.Signer(identity), form, time)
        return message
    }

    /// The message, to be encrypted; what was signed just before is inside.
    ///
    /// - Parameters:
    ///   - cipher: nil takes the best that all recipients are known to read, or AES-256-GCM.
    ///   - time: for which `Recipient` was checked; nothing in the message tells it.
    /// - Throws: `SMIMEError.noCommonCipher`; what writing throws, if the message is encrypted already.
    public func encrypted(
        to recipients: [Recipient],
        cipher: ContentCipher? = nil,
        at time: Date = .now
    ) throws -> Message {
        let parties = recipients.map {
            CipherNegotiation.Party(
                name: "\($0.certificate.subject)",
                certificate: $0.certificate,
                capabilities: $0.capabilities
            )
        }
        let negotiation = try CipherNegotiation(for: parties, CipherNegotiation.Preferences(demanded: cipher))
        var message = self
        var signer: (SignedDataWriter.Signer, SignatureForm)?
        switch protection {
        case .none: break
        case .signed(let pending, let form, _): signer = (pending, form)
        case .encrypted: message = try settled()
        }
        message.protection = .encrypted(recipients, negotiation.cipher, signedBy: signer, signingTime ?? time)
        return message
    }

    /// The same for certificates, each of which is checked as of now.
    ///
    /// - Throws: `SMIMEError.unusableRecipient` for a certificate that `Recipient` rejects; `.noCommonCipher`.
    public func encrypted(to certificates: Certificate...) throws -> Message {
        try encrypted(to: certificates.map { try Recipient($0) })
    }

    /// The same message, whose header is treated by `policy` when it is signed or encrypted (RFC 9788).
    public func protectingHeader(_ policy: HeaderPolicy) -> Message {
        var message = self
        message.headers = policy
        return message
    }

    /// Writes the message, signed and encrypted as was asked for.
    ///
    /// - Throws: `SMIMEError.defective` for a header that other programs read differently, `CMSError.unsupported` for a key that
    ///   cannot be used, and what reading and writing throw.
    public func write(to sink: any ByteSink) throws {
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

    /// Writes the message into a file, which appears whole or not at all.
    ///
    /// - Throws: `StreamError.cannotCreate`; as for a sink.
    public func write(to path: String) throws {
        let output = try OutputFile(path: path, isPrivate: false)
        try write(to: output)
        try output.commit()
    }

    /// The message's bytes, for one that fits in memory.
    ///
    /// - Throws: as for a sink.
    public func bytes() throws -> [UInt8] {
        let sink = MemorySink()
        try write(to: sink)
        return sink.bytes
    }

    private var signingTime: Date? {
        if case .signed(_, _, let time) = protection { time } else { nil }
    }

    /// A message whose source is what this one would be written as.
    func settled() throws -> Message {
        if case .none = protection { return self }
        let spool = Spool()
        try write(to: spool)
        return try Message(spool.finish()).protectingHeader(headers)
    }
}
