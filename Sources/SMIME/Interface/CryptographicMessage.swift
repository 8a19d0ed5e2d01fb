import ByteStreams
public import CMSSyntax
public import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Signed and encrypted objects other than mail, such as documents, code and Wallet passes (RFC 5652).
///
/// The caller decides whose certificates may sign such an object: addresses are not compared. `TrustStore.usage` is the
/// required extended key usage.
public enum CryptographicMessage {
    /// Input or output bytes, in memory or in a file of any size.
    public struct Content: Sendable, WritableContent {
        /// Where the bytes come from.
        private enum Origin: Sendable {
            case input
            case decrypted(OpenedMessage)
            case signed(VerifiedContent)
        }

        let source: any ByteSource
        private let origin: Origin

        /// The layers of decrypted content with their problems, and the verdicts on signatures inside; nil for content that is
        /// not decrypted.
        public var report: VerificationReport? {
            if case .decrypted(let opened) = origin { opened.report } else { nil }
        }

        public init(_ bytes: some Sequence<UInt8>) { self.init(MemorySource(Array(bytes))) }

        /// - Throws: `.file`
        public init(contentsOf path: String) throws(SMIMEError) {
            self.init(try SMIMEError.catching { try FileSource(path: path) })
        }

        private init(_ source: any ByteSource) { (self.source, origin) = (source, .input) }

        init(_ opened: OpenedMessage, in source: any ByteSource) {
            (self.source, origin) = (source, .decrypted(opened))
        }

        init(_ verified: VerifiedContent, in source: any ByteSource) {
            (self.source, origin) = (source, .signed(verified))
        }

        package func write(to sink: any ByteSink) throws {
            switch origin {
            case .decrypted(let opened): try opened.write(to: sink, lineEnd: nil)
            case .signed(let verified): _ = try verified.writeContent(to: sink)
            case .input:
                try source.reader().copy(to: sink)
                try source.checkUnchanged()
            }
        }

        /// Writes the bytes in pieces that fit in memory.
        ///
        /// - Throws: `.file`, `.cancelled`, `.decryptionFailed`; `.callback` with the error that `sink` throws, unless that is
        ///   an `SMIMEError`.
        public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

        /// Writes the bytes into a file of mode 0600. The file appears only when it is complete, unless `path` is a pipe or
        /// device.
        ///
        /// - Throws: the errors of writing to a sink.
        public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path) }

        /// All bytes, if they fit in memory.
        ///
        /// - Throws: the errors of writing to a sink.
        public func bytes() throws(SMIMEError) -> [UInt8] { try allBytes() }
    }

    /// Signs bytes without changing them: a SignedData in DER (RFC 5652 §5).
    ///
    /// - Parameters:
    ///   - content: the bytes to sign.
    ///   - identity: the signer.
    ///   - isAttached: whether the object contains the content.
    ///   - time: the signing time, at which the certificate must also be valid.
    ///   - isChecked: whether the certificate is checked. If not, an object is also signed with a certificate that verifiers
    ///     reject.
    /// - Throws: `.unusableSigner` for a certificate that does not permit signing, belongs to an authority, is weak, or
    ///   is not valid at `time`; its extended key usage is not checked. `.unsupported` for a key that cannot sign; `.file`
    public static func sign(
        _ content: Content,
        by identity: Identity,
        isAttached: Bool = false,
        at time: Date = .now,
        isChecked: Bool = true
    ) throws(SMIMEError) -> [UInt8] {
        try SMIMEError.catching {
            if isChecked { try CertificateFitness.checkSigner(identity.certificate, at: time) }
            let sink = MemorySink()
            try ContentProtector(content.source)
                .sign(by: SignedDataWriter.Signer(identity), as: isAttached ? .opaque : .detached, at: time, to: sink)
            return sink.bytes
        }
    }

    /// Verifies the signature over `content`, or over the content in the object. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: `.file`, `.cancelled`, and the provider's errors as for `Message.opened`. A malformed object is a problem in
    ///   the report.
    public static func verify(
        _ signature: some Sequence<UInt8>,
        of content: Content? = nil,
        with keys: some KeyProvider,
        at time: Date = .now
    ) async throws(SMIMEError) -> VerificationReport {
        let stream = MemorySource(Array(signature)).stream()
        return try await SMIMEError.inBackground {
            try await MessageOpener(CallersKeys(keys), at: time).verify(cms: stream, detached: content?.source).report
        }
    }

    /// Verifies a signature that contains its content (`isAttached`). Runs on `SMIMEExecutor`.
    ///
    /// - Returns: exactly the bytes that were signed, and the verdict. The content is nil if there is none, or a signature does
    ///   not match it. Whether the signer is trusted is in the report.
    /// - Throws: the errors of `verify`.
    public static func opened(
        _ object: Content,
        with keys: some KeyProvider,
        at time: Date = .now
    ) async throws(SMIMEError) -> (content: Content?, report: VerificationReport) {
        try await SMIMEError.inBackground {
            let verified = try await MessageOpener(CallersKeys(keys), at: time)
                .verify(cms: object.source.stream(), detached: nil)
            return (verified.hasContent ? Content(verified, in: object.source) : nil, verified.report)
        }
    }

    /// Encrypts bytes into an AuthEnvelopedData in DER, or into an EnvelopedData if the cipher requires it (RFC 5083, RFC
    /// 5652 §6).
    ///
    /// - Parameters:
    ///   - content: the bytes to encrypt.
    ///   - recipients: everyone who can decrypt the content.
    ///   - cipher: the cipher; nil chooses the best cipher that all recipients announce, or AES-256-GCM.
    /// - Throws: `.noCommonCipher`, `.cipherBelowFloor` for a cipher that smime only reads, `.unsupported` for a key that
    ///   cannot be used or without recipients, `.file`
    public static func encrypt(
        _ content: Content,
        to recipients: [Recipient],
        cipher: ContentCipher? = nil
    ) throws(SMIMEError) -> [UInt8] {
        let cipher = try recipients.commonCipher(demanded: cipher)
        return try SMIMEError.catching {
            let sink = MemorySink()
            try ContentProtector(content.source).encrypt(to: recipients, cipher: cipher, to: sink)
            return sink.bytes
        }
    }

    /// Decrypts an encrypted object. Runs on `SMIMEExecutor`.
    ///
    /// - Parameters:
    ///   - object: the encrypted object.
    ///   - keys: the identities that decrypt, and the trusted certificates for signatures inside.
    ///   - password: the password for content encrypted with a password; nil if there is none.
    ///   - onlyAuthenticated: whether content is decrypted only if its encryption protects against changes; see
    ///     `Message.opened`.
    /// - Throws: `.unauthenticated`, `.notEncrypted`, `.certificatesOnly`, `.notForUs`, `.needsSecret`, `.decryptionFailed`,
    ///   `.malformed`, `.unsupported`, `.limitExceeded`, `.file`, `.cancelled`, and the provider's errors as for
    ///   `Message.opened`.
    public static func decrypt(
        _ object: Content,
        with keys: some KeyProvider,
        password: String? = nil,
        onlyAuthenticated: Bool = false
    ) async throws(SMIMEError) -> Content {
        try await SMIMEError.inBackground {
            let opener = MessageOpener(CallersKeys(keys), at: .now, secret: .init(given: password))
            let opened = try await opener.decrypt(
                cms: object.source.stream(),
                in: object.source,
                onlyAuthenticated: onlyAuthenticated
            )
            return Content(opened, in: object.source)
        }
    }
}

extension HeaderBlock {
    // These values are not verified; `OpenedMessage.verifiedAuthor` is.

    /// The subject with its encoded words decoded (RFC 2047); nil if there is no Subject field. It may contain line breaks and
    /// other control characters: use `EncodedWord.encode` before writing it into another header.
    public var subject: String? { first("Subject")?.displayValue }

    /// The addresses in From, in order. Treat several addresses or several From fields as suspicious.
    public var from: [EmailAddress] { list("From") }

    /// The addresses in To, including group members.
    public var to: [EmailAddress] { list("To") }

    /// The addresses in Cc, including group members.
    public var cc: [EmailAddress] { list("Cc") }

    /// The time at which the message was written, as the sender claims; nil if Date is missing or cannot be parsed (RFC 5322
    /// §3.3).
    public var date: Date? { first("Date").flatMap { MessageDate($0.value) }?.date }

    /// The addresses in all fields called `name`. Text that is not an address, and fields with more addresses than the
    /// limit, are ignored.
    private func list(_ name: String) -> [EmailAddress] {
        all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] }
    }
}

extension TrustStore {
    /// The problems of `certificate`: of its chain to an anchor, its validity, and its known revocation, with the levels that a
    /// report gives them. The certificate is acceptable if no problem is an error. Warnings are usual: without a revocation
    /// list there is the warning `revocation-unknown`.
    ///
    /// - Parameters:
    ///   - certificate: the certificate to judge.
    ///   - purpose: the intended use of the certificate.
    ///   - others: untrusted certificates that may complete the chain.
    ///   - time: the time at which all certificates must be valid.
    public func problems(
        of certificate: Certificate,
        for purpose: Certificate.KeyPurpose,
        with others: [Certificate] = [],
        at time: Date = .now
    ) -> [Problem] {
        let verdict = judge(
            certificate,
            extra: others,
            purpose: purpose,
            at: time
        )
        return VerdictExceptions().weigh(verdict.problems) + verdict.timeProblems + (verdict.revocation?.problems ?? [])
    }
}
