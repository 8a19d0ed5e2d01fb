import ByteStreams
public import CMSSyntax
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
        let source: any ByteSource
        private let opened: OpenedMessage?

        public init(_ bytes: some Sequence<UInt8>) { self.init(MemorySource(Array(bytes))) }

        /// - Throws: `.file`
        public init(contentsOf path: String) throws(SMIMEError) {
            self.init(try SMIMEError.catching { try FileSource(path: path) })
        }

        private init(_ source: any ByteSource) { (self.source, opened) = (source, nil) }

        init(_ opened: OpenedMessage, in source: any ByteSource) { (self.source, self.opened) = (source, opened) }

        package func write(to sink: any ByteSink) throws {
            if let opened { return try opened.write(to: sink, lineEnd: nil) }
            try source.reader().copy(to: sink)
            try source.checkUnchanged()
        }

        /// Writes the bytes in pieces that fit in memory.
        ///
        /// - Throws: `.file`, `.cancelled`, `.decryptionFailed`; `.callback` with the error that `sink` throws, unless that is
        ///   an `SMIMEError`.
        public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

        /// Writes the bytes into a file of mode 0600. The file appears only when it is complete.
        ///
        /// - Throws: the errors of writing to a sink.
        public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path, isPrivate: true) }

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
    /// - Throws: `.file`, `.cancelled`, and the provider's errors as for `Message.opened`. A malformed object is a problem in the
    ///   report.
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

    /// Encrypts bytes into an AuthEnvelopedData in DER, or into an EnvelopedData if the cipher requires it (RFC 5083, RFC
    /// 5652 §6).
    ///
    /// - Parameters:
    ///   - content: the bytes to encrypt.
    ///   - recipients: everyone who can decrypt the content.
    ///   - cipher: the cipher; nil chooses the best cipher that all recipients announce, or AES-256-GCM.
    /// - Throws: `.noCommonCipher`, `.unsupported`, `.file`
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
    /// - Throws: `.notForUs`, `.decryptionFailed`, `.malformed`, `.file`, `.cancelled`, and the provider's errors as
    ///   for `Message.opened`.
    public static func decrypt(
        _ object: Content,
        with keys: some KeyProvider,
        password: String? = nil
    ) async throws(SMIMEError) -> Content {
        try await SMIMEError.inBackground {
            let opener = MessageOpener(CallersKeys(keys), at: .now, secret: .init(given: password))
            return Content(try await opener.decrypt(cms: object.source.stream(), in: object.source), in: object.source)
        }
    }
}
