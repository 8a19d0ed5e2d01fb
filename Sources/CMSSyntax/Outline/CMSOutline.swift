package import ByteStreams
package import PKIX
import SwiftASN1

/// The parts of a CMS object that are readable without a key, such as signers, recipients and algorithms.
///
/// Nothing is verified or decrypted. The object is read to its end. In a damaged object everything before the damage is read,
/// and `problems` describes the damage. Of an object of unknown type, only the type is read.
/// RFC 5652, RFC 5083, RFC 3274
package struct CMSOutline: Sendable {
    /// The maximum number of bytes of certificates, recipients and similar data that are kept for one object.
    package static let maximumCount = 32 << 20

    /// The type of the object in the outermost ContentInfo.
    package let type: CMSContentType
    /// The name of the content's type, such as `data`, or its dotted OID; nil if reading ended before it.
    package internal(set) var contentType: String?
    /// The length in bytes of the content as it is in the object, encrypted or not; nil if the object contains no content, or
    /// if reading ended before its end.
    package internal(set) var contentCount: Int?
    /// The names or dotted OIDs of algorithms of the object as a whole: digests, the cipher, the compression.
    package internal(set) var algorithms: [String] = []
    /// The recipients, in order.
    package internal(set) var recipients: [RecipientInfo] = []
    /// The claimed signers, in the order of the object; no signature is checked.
    package internal(set) var signers: [SignerInfo] = []
    /// The certificates in the object. Certificates that cannot be parsed are counted in `problems`.
    package internal(set) var certificates: [Certificate] = []
    /// The revocation lists in the object. Lists that cannot be parsed are counted in `problems`.
    package internal(set) var certificateLists: [CertificateList] = []
    /// The names or dotted OIDs of the object's authenticated attributes. The attributes of signers are not included.
    package internal(set) var authenticatedAttributes: [String] = []
    /// The names or dotted OIDs of the unprotected attributes.
    package internal(set) var unprotectedAttributes: [String] = []
    /// The defects of the object, and what could not be determined.
    package internal(set) var problems: [Problem] = []
    /// The cipher of an encrypted object with its parameters; nil if there is none, or if it cannot be parsed.
    var contentEncryption: ContentEncryption?
    /// The length in bytes of the tag of an AuthEnvelopedData; nil if reading ended before it.
    var tagCount: Int?
    /// Whether the whole object has the structure that its type requires, and no bytes follow it. Always true for an object
    /// of unknown type, of which nothing is read.
    package internal(set) var isSound = true
    /// The number of bytes of certificates and similar data that are kept.
    package internal(set) var count = 0

    /// The maximum of `count`.
    let limit: Int
    /// Whether every element of the object was read and is well-formed, apart from certificates and lists. Always true for an
    /// object of unknown type, of which nothing is read.
    var isComplete = true

    /// Reads a whole object.
    ///
    /// - Parameters:
    ///   - content: receives the content while it is read, as it is in the object: plain, encrypted or compressed.
    ///   - limit: the maximum number of bytes of certificates, recipients and similar data to keep.
    /// - Throws: `CMSError.malformed` if it is not a CMS object, and errors of reading.
    package init(
        reading stream: ByteStream,
        content: any ByteSink = CountingSink(),
        limit: Int = CMSOutline.maximumCount
    ) throws {
        let reader = BERReader(try stream.makeReader())
        type = try reporting(.cms) {
            try reader.enter(.sequence)
            let oid = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
            try reader.enter(.context(0))
            return CMSContentType(oid)
        }
        self.limit = limit
        do {
            try reporting(.cms) { try read(reader, content) }
        } catch let error as CMSError { note(error) }
    }

    /// Whether `stream` begins like a CMS object of any type: with a SEQUENCE whose first element is an OID.
    package static func isCMS(_ stream: ByteStream) throws -> Bool {
        let reader = BERReader(try stream.makeReader())
        do {
            return try reporting(.cms) {
                try reader.enter(.sequence)
                return try reader.peek()?.identifier == .objectIdentifier
            }
        } catch is CMSError { return false }
    }

    /// Whether this is a complete SignedData with neither signers nor content: it can only contain certificates and
    /// revocation lists (RFC 8551 §3.8).
    package var isCertificatesOnly: Bool { type == .signedData && isComplete && signers.isEmpty && contentCount == nil }

    /// The name of the type, such as `signed-data` or `certs-only`, or its dotted OID.
    package var typeName: String {
        switch type {
        case .authEnvelopedData: "authenveloped-data"
        case .compressedData: "compressed-data"
        case .data: "data"
        case .digestedData: "digested-data"
        case .encryptedData: "encrypted-data"
        case .envelopedData: "enveloped-data"
        case .other(let oid): ASN1ObjectIdentifier(dotted: oid)?.displayName ?? oid
        case .signedData: isCertificatesOnly ? "certs-only" : "signed-data"
        }
    }

    /// Adds an error about the object to the problems.
    mutating func note(_ error: CMSError) {
        isSound = false
        isComplete = false
        let problem =
            switch error {
            case .limitExceeded(let what): Problem(.cmsLimit, "the CMS object exceeds a limit: \(what)")
            case .malformed(_, let why): Problem(.cmsMalformed, "the CMS object is malformed: \(why)")
            default: Problem(.cmsMalformed, "the CMS object is malformed: \(error)")
            }
        // The number of problems is limited, because an object may have thousands of broken recipients.
        if problems.count < 20, !problems.contains(problem) { problems.append(problem) }
    }
}

extension CMSOutline {
    /// Whether this is an encrypted object whose cipher, parameters, content length and tag are consistent, as in every
    /// genuine ciphertext.
    ///
    /// CBC belongs in EnvelopedData, and its content is one or more whole blocks. GCM, CCM and ChaCha20-Poly1305 belong in
    /// AuthEnvelopedData, with a tag of the length that the parameters name. Nothing is decrypted, so the content need not be
    /// ciphertext; `PlaintextDetector` finds plaintext in its place.
    /// RFC 5652 §6.1, RFC 5083 §2.1, RFC 5084 §3, RFC 8103 §3
    package var isWellFormedCiphertext: Bool {
        guard isComplete, let encryption = contentEncryption, let contentCount, contentCount > 0 else { return false }
        switch type {
        case .envelopedData:
            // The initialization vector of CBC is one block long.
            return !encryption.cipher.isAuthenticated && contentCount.isMultiple(of: encryption.iv.count)
        case .authEnvelopedData: return encryption.cipher.isAuthenticated && tagCount == encryption.tagCount
        default: return false
        }
    }

    /// Whether the cipher is only used to read old mail, and never to write.
    package var hasHistoricCipher: Bool { contentEncryption?.cipher.isHistoric ?? false }
}

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
