package import ByteStreams
package import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The entity around protected content: its header fields and its body, with CRLF line ends.
struct ProtectedEntity {
    let fields: [NewField]
    let body: ReplayableContent

    /// An entity whose body is a CMS object in base64 (RFC 8551 §3.2).
    ///
    /// - Parameter name: the file name; older mail programs recognize the type by its extension (RFC 8551 §3.2.1).
    init(cms object: ReplayableContent, type: String, name: String = "smime.p7m") {
        fields = [
            NewField(
                "Content-Type",
                value: "application/pkcs7-mime",
                parameters: [.init("smime-type", value: type), .init("name", value: name)]
            ),
            NewField("Content-Disposition", value: "attachment", parameters: [.init("filename", value: name)]),
            NewField("Content-Transfer-Encoding", value: "base64"),
        ]
        body = object.base64
    }

    /// A multipart/signed (RFC 8551 §3.5.3).
    init(content: ReplayableContent, signature: ReplayableContent, digest: DigestAlgorithm) {
        let random = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }.joined()
        let boundary = "smime-\(random)"
        fields = [
            NewField(
                "Content-Type",
                value: "multipart/signed",
                parameters: [
                    .init("protocol", value: "application/pkcs7-signature"), .init("micalg", value: digest.micalg),
                    .init("boundary", value: boundary),
                ]
            )
        ]
        let signatureHeader = [
            NewField(
                "Content-Type",
                value: "application/pkcs7-signature",
                parameters: [.init("name", value: "smime.p7s")]
            ),
            NewField("Content-Transfer-Encoding", value: "base64"),
            NewField("Content-Disposition", value: "attachment", parameters: [.init("filename", value: "smime.p7s")]),
        ].flatMap { $0.bytes(lineEnd: .crlf) }
        body = ReplayableContent { sink in
            try sink.write("This is a signed message in MIME format (S/MIME).\r\n\r\n--\(boundary)\r\n")
            try content.write(sink)
            try sink.write("\r\n--\(boundary)\r\n")
            try sink.write(signatureHeader)
            try sink.write("\r\n")
            try signature.base64.write(sink)
            try sink.write("\r\n--\(boundary)--\r\n")
        }
    }

    /// The header and the body, in canonical form.
    var content: ReplayableContent {
        ReplayableContent { sink in
            for field in fields { try sink.write(field.bytes(lineEnd: .crlf)) }
            try sink.write(LineEnd.crlf.bytes)
            try body.write(sink)
        }
    }
}

/// How the header of a message is protected when the message is signed or encrypted.
///
/// RFC 9788
public struct HeaderPolicy: Hashable, Sendable {
    /// Whether the header fields are signed and encrypted with the content.
    public var isProtected: Bool
    /// Which header fields are hidden outside if the message is encrypted.
    public var confidentiality: HeaderConfidentiality
    /// Whether the text also contains the hidden fields, for mail programs without header protection.
    public var hasLegacyDisplay: Bool

    /// By default all header fields are protected and none is hidden.
    public init(
        isProtected: Bool = true,
        confidentiality: HeaderConfidentiality = .none,
        hasLegacyDisplay: Bool = false
    ) {
        self.isProtected = isProtected
        self.confidentiality = confidentiality
        self.hasLegacyDisplay = hasLegacyDisplay
    }

    /// The header stays outside and is not protected.
    public static let unprotected = HeaderPolicy(isProtected: false)

    /// The header protection for `HeaderSplit`; nil if the header is not protected.
    func protection(isEncrypted: Bool, hasLegacyDisplay: Bool = false) -> HeaderProtection? {
        guard isProtected else { return nil }
        return isEncrypted ? .cipher(confidentiality, hasLegacyDisplay: hasLegacyDisplay) : .clear
    }
}

/// Signs and encrypts content as bare CMS objects, without a MIME structure around them.
///
/// A file is protected byte for byte: the recipient gets exactly the same bytes. Mail content is protected in canonical form,
/// as expected by programs that put the object into a mail themselves (RFC 8551 §3.1.1).
package struct ContentProtector {
    private let source: any ByteSource
    private let content: ReplayableContent

    /// Prepares the bytes of `source` for protection.
    package init(_ source: any ByteSource) {
        self.source = source
        content = ReplayableContent(count: source.count) { try source.reader().copy(to: $0) }
    }

    /// Prepares a MIME entity, which is protected with CRLF line ends. Parts with the transfer encoding `binary` are not
    /// changed.
    package init(_ mail: LocatedEntity) {
        source = mail.source
        let stream = mail.entity.canonicalStream(of: mail.source, range: 0..<mail.source.count)
        content = ReplayableContent { try stream.makeReader().copy(to: $0) }
    }

    /// Writes a signature over the content. If `form` is opaque, the object contains the content.
    ///
    /// - Parameter time: the signing time.
    /// - Throws: `CMSError.unsupported` for a key that cannot sign, `StreamError.changedWhileReading`, and errors of reading
    ///   and writing.
    package func sign(
        by signer: SignedDataWriter.Signer,
        as form: SignatureForm,
        at time: Date,
        to sink: any ByteSink
    ) throws {
        try content.signed(by: signer, isOpaque: form == .opaque, at: time).write(sink)
        try source.checkUnchanged()
    }

    /// Encrypts the content and writes the object.
    ///
    /// - Throws: `CMSError.unsupported` for a certificate that cannot be used to encrypt, `StreamError.changedWhileReading`,
    ///   and errors of reading and writing.
    package func encrypt(
        to recipients: [Recipient],
        secrets: [SharedSecret] = [],
        cipher: ContentCipher,
        to sink: any ByteSink
    ) throws {
        try content.enveloped(to: recipients, secrets: secrets, cipher: cipher).write(sink)
        try source.checkUnchanged()
    }
}
