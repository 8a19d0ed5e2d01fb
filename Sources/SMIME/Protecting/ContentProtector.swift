package import ByteStreams
package import CMSSyntax
import InternetMessage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

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
    /// - Throws: `CMSError.unsupported` for a certificate that cannot be used to encrypt, or if there are neither recipients
    ///   nor secrets; `StreamError.changedWhileReading`; errors of reading and writing.
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
