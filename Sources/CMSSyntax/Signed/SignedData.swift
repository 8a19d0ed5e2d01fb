package import ByteStreams
package import LibCrypto
package import PKIX
import SwiftASN1

/// A parsed SignedData: its claims and certificates, and the digests of the content that was actually read.
///
/// Nothing is verified by reading; `check(_:candidates:)` verifies one signer.
///
/// RFC 5652 §5.1
package struct SignedData: Sendable {
    /// The maximum number of certificates, and of CRLs.
    package static let maximumCertificates = 1_000
    /// The maximum number of signers.
    package static let maximumSigners = 16
    /// The maximum content, in bytes, of a signature without attributes whose scheme hashes the content itself.
    package static let maximumWholeContent = ContentHasher.maximumKept
    /// The maximum total size of certificates, CRLs and signers in bytes.
    private static let maximumBytes = 32 << 20

    /// The digests announced before the content, without unknown algorithms.
    package let digestAlgorithms: [DigestAlgorithm]
    /// The type of the signed content as a dotted OID; `isData` is true for the usual type.
    package let contentType: String
    /// Whether the structure contains the content.
    package let hasContent: Bool
    /// The certificates in order. Certificates that cannot be parsed are counted in `problems`.
    package let certificates: [Certificate]
    /// The encodings of the elements of `crls`: CRLs, and revocation information in other formats.
    package let crls: [[UInt8]]
    /// The claimed signers in order.
    package let signers: [SignerInfo]
    /// The problems of the structure as a whole.
    package private(set) var problems: [Problem]

    let contentTypeOID: ASN1ObjectIdentifier
    /// The digests of the content by algorithm.
    private(set) var contentDigests: [DigestAlgorithm: [UInt8]]
    /// The whole content, kept if a signature covers it directly; nil if it is longer than the limit.
    private(set) var wholeContent: [UInt8]?
    /// Whether the content looks like signed attributes, so that a signature over attributes would be valid for the content
    /// as well.
    private(set) var resemblesAttributes = false

    /// Whether the content is of the type that S/MIME requires (RFC 8551 §2.4.1).
    package var isData: Bool { contentTypeOID == ASN1ObjectIdentifier.ContentType.data }

    /// Reads a SignedData and hashes the content if the structure contains it.
    ///
    /// - Parameter content: receives the signed content while it is read.
    /// - Throws: `CMSError.malformed`, `.limitExceeded`, `.openSSL`, and errors of reading and of `content`.
    package init(reading stream: ByteStream, content: any ByteSink = CountingSink()) throws {
        self = try reporting(.cms) { try Self(stream, content) }
        let missing = Set(signers.compactMap(\.digest)).subtracting(contentDigests.keys)
        guard hasContent, !missing.isEmpty || keepsContent else { return }
        // The content must be read again: a signer used a digest that digestAlgorithms does not contain, or a signature
        // covers the content itself.
        let hasher = try reporting(.cms) { try ContentHasher(missing, keepsContent: keepsContent) }
        _ = try reporting(.cms) { try Self.contentReader(stream)?.copy(to: hasher) }
        contentDigests.merge(try reporting(.cms) { try hasher.finish() }) { first, _ in first }
        wholeContent = hasher.wholeContent
    }

    /// Whether some signature covers the content itself instead of a digest of it.
    private var keepsContent: Bool { signers.contains(where: \.signsWholeContent) }

    /// Hashes detached content with the digests of all signers.
    ///
    /// If the SignedData also contains content, which RFC 8551 §3.5.3.1 forbids, `problems` says whether both are the same.
    package mutating func hashDetached(_ content: ByteStream) throws {
        let digests = Set(signers.compactMap(\.digest))
        let hasher = try reporting(.cms) { try ContentHasher(digests, keepsContent: keepsContent) }
        let detached = try reporting(.cms) {
            try content.makeReader().copy(to: hasher)
            return try hasher.finish()
        }
        if hasContent {
            let isSame = detached.allSatisfy { contentDigests[$0.key] == $0.value } && !detached.isEmpty
            problems.append(
                isSame
                    ? Problem(.contentEmbedded, "the detached signature also contains the content, unchanged")
                    : Problem(.contentMismatch, "the content inside the signature differs from the detached content")
            )
        }
        contentDigests = detached
        wholeContent = hasher.wholeContent
        resemblesAttributes = hasher.resemblesAttributes
    }

    /// A reader of the content inside the SignedData in `stream`; nil if it is detached.
    private static func contentReader(_ stream: ByteStream) throws -> (any ByteReader)? {
        let reader = BERReader(try stream.makeReader())
        return try Preamble(reader).hasContent ? OctetStringReader(reader, identifier: .octetString) : nil
    }

    private init(_ stream: ByteStream, _ sink: any ByteSink) throws {
        let reader = BERReader(try stream.makeReader())
        let preamble = try Preamble(reader)
        var problems: [Problem] = []
        let hasher = try ContentHasher(Set(preamble.digestAlgorithms))
        if preamble.hasContent {
            let tee = ClosureSink { bytes in
                try hasher.write(bytes)
                try sink.write(bytes)
            }
            try OctetStringReader(reader, identifier: .octetString).copy(to: tee)
            try reader.leave()
        }
        try reader.leave()
        var bytesLeft = Self.maximumBytes
        certificates = try Self.readCertificates(reader, &bytesLeft, problems: &problems)
        crls = try Self.readSet(
            reader,
            .context(1),
            limit: Self.maximumCertificates,
            bytesLeft: &bytesLeft,
            what: "CRLs"
        )
        guard try reader.peek()?.identifier == .set else { throw CMSError.malformed(.cms, "no SignerInfos") }
        signers = try Self.readSet(reader, .set, limit: Self.maximumSigners, bytesLeft: &bytesLeft, what: "signers").map
        {
            try SignerInfo(berEncoded: ASN1Node.read($0))
        }
        for _ in 0..<3 { try reader.leave() }
        if try !reader.isExhausted() {
            problems.append(Problem(.trailingBytes, "bytes follow the signature"))
        }
        digestAlgorithms = preamble.digestAlgorithms
        contentTypeOID = preamble.contentType
        contentType = "\(preamble.contentType)"
        hasContent = preamble.hasContent
        contentDigests = try hasher.finish()
        resemblesAttributes = hasher.resemblesAttributes
        self.problems = problems
    }

    /// The elements before the content.
    private struct Preamble {
        let digestAlgorithms: [DigestAlgorithm]
        let contentType: ASN1ObjectIdentifier
        let hasContent: Bool

        /// Reads up to the content's OCTET STRING, which `reader` returns next.
        init(_ reader: BERReader) throws {
            try reader.enter(.sequence)
            guard try ASN1ObjectIdentifier(berEncoded: reader.readNode()) == ASN1ObjectIdentifier.ContentType.signedData
            else { throw CMSError.malformed(.cms, "not a signed message") }
            try reader.enter(.context(0))
            try reader.enter(.sequence)
            _ = try Int(berEncoded: reader.readNode())
            digestAlgorithms = try reader.readNode().children(expecting: .set).compactMap {
                DigestAlgorithm(oid: try AlgorithmIdentifier(berEncoded: $0).algorithm)
            }
            try reader.enter(.sequence)
            contentType = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
            hasContent = try reader.peek()?.identifier == .context(0)
            if hasContent { try reader.enter(.context(0)) }
        }
    }

    private static func readCertificates(
        _ reader: BERReader,
        _ bytesLeft: inout Int,
        problems: inout [Problem]
    ) throws -> [Certificate] {
        var certificates: [Certificate] = []
        var unreadable = 0
        for encoded in try readSet(
            reader,
            .context(0),
            limit: maximumCertificates,
            bytesLeft: &bytesLeft,
            what: "certificates"
        ) {
            // Attribute certificates and obsolete PKCS#6 certificates have other tags; they are skipped.
            guard encoded.first == 0x30 else { continue }
            do { certificates.append(try Certificate(der: encoded)) } catch { unreadable += 1 }
        }
        if unreadable > 0 {
            problems.append(
                Problem(.certificateUnreadable, "\(unreadable) of the included certificates cannot be read")
            )
        }
        return certificates
    }

    /// The encodings of the elements of an optional SET; empty if it is absent.
    private static func readSet(
        _ reader: BERReader,
        _ identifier: ASN1Identifier,
        limit: Int,
        bytesLeft: inout Int,
        what: String
    ) throws -> [[UInt8]] {
        guard try reader.peek()?.identifier == identifier else { return [] }
        var elements: [[UInt8]] = []
        try reader.enter(identifier)
        while try reader.peek() != nil {
            guard elements.count < limit else { throw CMSError.limitExceeded("\(limit) \(what)") }
            let element = try reader.readElement()
            bytesLeft -= element.count
            guard bytesLeft >= 0 else { throw CMSError.limitExceeded("\(maximumBytes) bytes outside the content") }
            elements.append(element)
        }
        try reader.leave()
        return elements
    }
}

extension SignedData {
    /// The readable revocation lists and OCSP responses in the object.
    ///
    /// RFC 5652 §10.2.1, RFC 5940
    package var revocationEvidence: RevocationEvidence {
        var evidence = RevocationEvidence()
        evidence.certificateLists = crls.compactMap { try? CertificateList(der: $0) }
        evidence.responses = crls.compactMap { OCSPResponse(otherRevocationInfo: $0) }
        return evidence
    }
}
