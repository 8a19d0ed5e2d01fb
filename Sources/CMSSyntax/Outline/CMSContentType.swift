package import ByteStreams
import PKIX
import SwiftASN1

/// The kind of a CMS object, by its outermost content type.
package enum CMSContentType: Sendable, Equatable {
    case authEnvelopedData
    case compressedData
    case data
    case digestedData
    case encryptedData
    case envelopedData
    /// Any other type, with its dotted OID.
    case other(String)
    case signedData

    /// Reads the content type at the start of `stream`.
    ///
    /// - Throws: `CMSError.malformed` if it is not a CMS object.
    package init(of stream: ByteStream) throws {
        self = try reporting(.cms) {
            let reader = BERReader(try stream.makeReader())
            try reader.enter(.sequence)
            return CMSContentType(try ASN1ObjectIdentifier(berEncoded: reader.readNode()))
        }
    }

    init(_ oid: ASN1ObjectIdentifier) {
        switch oid {
        case ASN1ObjectIdentifier.ContentType.authEnvelopedData: self = .authEnvelopedData
        case ASN1ObjectIdentifier.ContentType.compressedData: self = .compressedData
        case ASN1ObjectIdentifier.ContentType.data: self = .data
        case ASN1ObjectIdentifier.ContentType.digestedData: self = .digestedData
        case ASN1ObjectIdentifier.ContentType.encryptedData: self = .encryptedData
        case ASN1ObjectIdentifier.ContentType.envelopedData: self = .envelopedData
        case ASN1ObjectIdentifier.ContentType.signedData: self = .signedData
        default: self = .other("\(oid)")
        }
    }
}
