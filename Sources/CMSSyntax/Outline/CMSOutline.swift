package import ByteStreams
package import PKIX
import SwiftASN1

/// The parts of a CMS object that are readable without a key: its signers, its recipients, its algorithms.
///
/// Nothing is verified or decrypted. The object is read to its end. In a damaged object everything before the damage is
/// read, and `problems` names the damage.
/// RFC 5652, RFC 5083, RFC 3274
package struct CMSOutline: Sendable {
    /// How many bytes of certificates, recipients and similar data are kept of one object.
    package static let maximumCount = 32 << 20

    /// The type of the object in the outermost ContentInfo.
    package let type: CMSContentType
    /// The type of the content inside by name, as `data`, or by its dotted OID; nil if it was not reached.
    package internal(set) var contentType: String?
    /// The content's length in bytes, encrypted where it is; nil if there is no content in the object.
    package internal(set) var contentCount: Int?
    /// The names or dotted OIDs of what the object as a whole uses: digests, the cipher, the compression.
    package internal(set) var algorithms: [String] = []
    /// Its recipients, in order.
    package internal(set) var recipients: [RecipientInfo] = []
    /// The claimed signers, in the order of the object; no signature is checked.
    package internal(set) var signers: [SignerInfo] = []
    /// The certificates in it; unreadable ones are counted in `problems`.
    package internal(set) var certificates: [Certificate] = []
    /// The revocation lists in it; unreadable ones are counted in `problems`.
    package internal(set) var certificateLists: [CertificateList] = []
    /// The names or dotted OIDs of authenticated attributes of the object, which are not those of a signer.
    package internal(set) var authenticatedAttributes: [String] = []
    /// The names or dotted OIDs of attributes that nothing protects.
    package internal(set) var unprotectedAttributes: [String] = []
    /// The faults of the object, and what could not be found out.
    package internal(set) var problems: [Problem] = []
    /// The cipher of an encrypted object with its parameters; nil if there is none that can be read.
    var contentEncryption: ContentEncryption?
    /// The length in bytes of the tag of an AuthEnvelopedData; nil if it was not reached.
    var tagCount: Int?
    /// Whether the whole object is what its type says, and nothing follows it.
    package internal(set) var isSound = true
    /// How many bytes of it are kept here.
    package internal(set) var count = 0

    /// How many bytes may be kept.
    let limit: Int
    /// Whether every element of the object was reached and well-formed.
    var isComplete = false

    /// Reads a whole object.
    ///
    /// - Parameters:
    ///   - content: receives the content while it is read: plain, encrypted or compressed, as it is in the object.
    ///   - limit: how many bytes of certificates, recipients and similar data may be kept.
    /// - Throws: `CMSError.malformed` if it is no CMS object at all, or what reading throws.
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
            isComplete = true
        } catch let error as CMSError { note(error) }
    }

    /// Whether `stream` begins like a CMS object, whatever its type: with a SEQUENCE that begins with an OID.
    package static func isCMS(_ stream: ByteStream) throws -> Bool {
        let reader = BERReader(try stream.makeReader())
        do {
            return try reporting(.cms) {
                try reader.enter(.sequence)
                return try reader.peek()?.identifier == .objectIdentifier
            }
        } catch is CMSError { return false }
    }

    /// Whether this is a SignedData without a signature that only contains certificates (RFC 8551 §3.8).
    package var isCertificatesOnly: Bool { type == .signedData && isComplete && signers.isEmpty && contentCount == nil }

    /// The type by name, as `signed-data` or `certs-only`, or its dotted OID.
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
        let problem =
            switch error {
            case .limitExceeded(let what): Problem(.cmsLimit, "the CMS object exceeds a limit: \(what)")
            case .malformed(_, let why): Problem(.cmsMalformed, "the CMS object is malformed: \(why)")
            default: Problem(.cmsMalformed, "the CMS object is malformed: \(error)")
            }
        // Thousands of broken recipients need not be reported one by one.
        if problems.count < 20, !problems.contains(problem) { problems.append(problem) }
    }
}
