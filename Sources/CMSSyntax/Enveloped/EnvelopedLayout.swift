import ByteStreams
import PKIX
import SwiftASN1

/// The parts of EnvelopedData and AuthEnvelopedData around the encrypted content.
///
/// RFC 5652 §6.1, RFC 5083 §2.1
struct EnvelopedLayout {
    let isAuthenticated: Bool
    let recipients: [RecipientInfo]
    let encryption: AlgorithmIdentifier

    /// Reads everything before the encrypted content, which `reader` returns next.
    ///
    /// - Parameter skipsRecipients: whether to skip the recipients, because they were already read.
    init(_ reader: BERReader, skipsRecipients: Bool = false) throws {
        try reader.enter(.sequence)
        let type = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
        switch type {
        case ASN1ObjectIdentifier.ContentType.envelopedData: isAuthenticated = false
        case ASN1ObjectIdentifier.ContentType.authEnvelopedData: isAuthenticated = true
        default: throw CMSError.malformed(.cms, "not an encrypted message")
        }
        try reader.enter(.context(0))
        try reader.enter(.sequence)
        _ = try Int(berEncoded: reader.readNode())
        _ = try reader.readNode(if: .context(0))
        recipients = skipsRecipients ? [] : try Self.recipients(reader)
        if skipsRecipients { try reader.skipElement() }
        try reader.enter(.sequence)
        _ = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
        encryption = try AlgorithmIdentifier(berEncoded: reader.readNode())
        guard try reader.peek()?.identifier == .context(0) else {
            throw CMSError.malformed(.cms, "no encrypted content")
        }
    }

    /// The maximum number of recipients.
    static let maximumRecipients = 20_000
    /// The maximum number of bytes, and of ASN.1 elements, of all recipients together. A single RecipientInfo can be large
    /// without naming a recipient.
    private static let maximumBytes = 32 << 20
    private static let maximumElements = 1_000_000

    private static func recipients(_ reader: BERReader) throws -> [RecipientInfo] {
        var recipients: [RecipientInfo] = []
        var (bytesLeft, elementsLeft) = (maximumBytes, maximumElements)
        try reader.enter(.set)
        while try reader.peek() != nil {
            let encoded = try reader.readElement()
            bytesLeft -= encoded.count
            elementsLeft -= try ElementExtent(of: encoded).elements
            guard bytesLeft >= 0, elementsLeft >= 0 else { throw CMSError.limitExceeded("the size of the recipients") }
            recipients += try RecipientInfo.read(ASN1Node.read(encoded))
            guard recipients.count <= maximumRecipients else {
                throw CMSError.limitExceeded("\(maximumRecipients) recipients")
            }
        }
        try reader.leave()
        guard !recipients.isEmpty else { throw CMSError.malformed(.cms, "no recipients") }
        return recipients
    }

    /// The elements after the encrypted content.
    struct Trailer {
        /// The authenticated attributes in the encoding that the cipher authenticates: DER (RFC 5083 §2.2); nil if there are
        /// none.
        var authenticatedAttributes: [UInt8]?
        var tag: [UInt8] = []
    }

    /// Reads everything after the encrypted content, to the end of the input.
    func readTrailer(_ reader: BERReader) throws -> Trailer {
        var trailer = Trailer()
        try reader.leave()
        if isAuthenticated {
            if let node = try reader.readNode(if: .context(1)) {
                let attributes = try node.children(expecting: .context(1)).map { try Attribute(berEncoded: $0) }
                trailer.authenticatedAttributes = try attributes.derSet()
            }
            trailer.tag = Array(try ASN1OctetString(berEncoded: reader.readNode()).bytes)
            _ = try reader.readNode(if: .context(2))
        } else {
            _ = try reader.readNode(if: .context(1))
        }
        for _ in 0..<3 { try reader.leave() }
        return trailer
    }
}
