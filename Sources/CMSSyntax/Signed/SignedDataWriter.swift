package import ByteStreams
package import LibCrypto
package import PKIX
import SwiftASN1

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Writes SignedData in DER for one signer, with embedded or detached content.
///
/// RFC 5652 §5.1
package struct SignedDataWriter {
    /// A signer and the options of its signature.
    package struct Signer: Sendable {
        /// The signing key, its certificate, and the certificates to include.
        package var identity: Identity
        /// The digest of the content and of the signed attributes.
        package var digest: DigestAlgorithm
        /// Whether the SignerInfo names the certificate by its key identifier (if it has one) instead of issuer and serial
        /// number.
        package var usesKeyIdentifier: Bool
        /// Whether the signer's own certificate is included.
        package var includesCertificate: Bool

        /// - Parameter digest: the digest; nil chooses the preferred digest for the key.
        package init(
            _ identity: Identity,
            digest: DigestAlgorithm? = nil,
            usesKeyIdentifier: Bool = false,
            includesCertificate: Bool = true
        ) {
            self.identity = identity
            self.digest = digest ?? identity.certificate.signatureDigests.first ?? .sha256
            self.usesKeyIdentifier = usesKeyIdentifier
            self.includesCertificate = includesCertificate
        }

        fileprivate var key: PrivateKey { identity.key }
        fileprivate var certificate: Certificate { identity.certificate }

        /// The SignerInfo's reference to the certificate. A certificate without a key identifier is always named by issuer
        /// and serial number.
        fileprivate var identifier: EntityIdentifier {
            guard usesKeyIdentifier, let identifier = certificate.subjectKeyIdentifier else {
                return EntityIdentifier(certificate)
            }
            return .subjectKeyIdentifier(identifier)
        }
    }

    private let frame: DERFrame

    /// The length of the whole structure in bytes.
    package var count: Int { frame.count }

    /// Creates the signature for content with a known digest.
    ///
    /// - Parameters:
    ///   - contentDigest: the content's digest, computed with `signer.digest`.
    ///   - contentCount: the length in bytes of embedded content; nil for detached content.
    ///   - time: the signing time.
    /// - Throws: `CMSError.unsupported` for a key that cannot sign with this digest or does not belong to the certificate, and
    ///   for a time outside the years 1000 to 9999; `CMSError.openSSL`.
    package init(signer: Signer, contentDigest: [UInt8], contentCount: Int?, time: Date) throws {
        frame = try reporting(.cms) {
            let info = try Self.signerInfo(signer, contentDigest, time: time)
            return try Self.layOut(signer, info, contentCount: contentCount)
        }
    }

    /// The digest and the length in bytes of the output of `content`.
    package static func digest(
        _ algorithm: DigestAlgorithm,
        of content: (any ByteSink) throws -> Void
    ) throws -> (value: [UInt8], count: Int) {
        let digester = try reporting(.cms) { try Digester(algorithm) }
        var count = 0
        try content(
            ClosureSink { bytes in
                try reporting(.cms) { try digester.update(bytes) }
                count += bytes.count
            }
        )
        return (try reporting(.cms) { try digester.finish() }, count)
    }

    /// Writes the structure; `content` writes the embedded content and is nil for detached content.
    ///
    /// - Throws: `StreamError.changedWhileReading` if the content does not have the announced length; errors of `sink` and
    ///   `content`.
    package func write(to sink: any ByteSink, content: ((any ByteSink) throws -> Void)? = nil) throws {
        try sink.write(frame.prefix)
        var count = 0
        try content?(
            ClosureSink { bytes in
                try sink.write(bytes)
                count += bytes.count
            }
        )
        guard count == frame.contentCount else { throw StreamError.changedWhileReading }
        try sink.write(frame.suffix)
    }

    private static func signerInfo(_ signer: Signer, _ contentDigest: [UInt8], time: Date) throws -> [UInt8] {
        guard signer.key.belongs(to: signer.certificate) else {
            throw CMSError.unsupported("signing with a key that is not the certificate's")
        }
        let (algorithm, identifier) = try SignatureAlgorithm.signing(for: signer.certificate, digest: signer.digest)
        // The signed bytes have a different tag from the written bytes (RFC 5652 §5.4).
        let attributes = try signedAttributes(signer, contentDigest, time: time).sortedDER()
        let message = [Attribute].derSet(of: attributes)
        let signature =
            algorithm.scheme.takesMessage
            ? try signer.key.handle.sign(message: message)
            : try signer.key.handle.sign(
                signer.digest.digest(message),
                digest: signer.digest,
                padding: algorithm.scheme.padding
            )
        let name = signer.identifier
        return try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(name.version)
                name.serialize(into: &coder)
                try coder.serialize(AlgorithmIdentifier(signer.digest.oid))
                coder.serializeRawBytes([Attribute].derSet(of: attributes, .context(0)))
                try coder.serialize(identifier)
                try coder.serialize(ASN1OctetString(contentBytes: signature[...]))
            }
        }
    }

    /// The DER of the announced capabilities, which is the same in every signature.
    private static let announcedCapabilities = Result { try SMIMECapability.encode(SMIMECapability.ours) }

    private static func signedAttributes(_ signer: Signer, _ contentDigest: [UInt8], time: Date) throws -> [Attribute] {
        typealias AttributeType = ASN1ObjectIdentifier.CMSAttribute
        let preference = signer.identity.encryptionCertificate.map { certificate in
            let value = EntityIdentifier(certificate).encryptionKeyPreference()
            return Attribute(AttributeType.encryptionKeyPreference, values: [value])
        }
        return [preference].compactMap(\.self) + [
            Attribute(
                AttributeType.contentType,
                values: [try der { try $0.serialize(ASN1ObjectIdentifier.ContentType.data) }]
            ),
            Attribute(
                AttributeType.messageDigest,
                values: [try der { try $0.serialize(ASN1OctetString(contentBytes: contentDigest[...])) }]
            ),
            Attribute(AttributeType.signingTime, values: [try signingTime(time)]),
            Attribute(AttributeType.smimeCapabilities, values: [try announcedCapabilities.get()]),
            Attribute(AttributeType.signingCertificateV2, values: [try SigningCertificate.encode(signer.certificate)]),
        ]
    }

    /// The signing time: UTCTime for the years 1950 to 2049, otherwise GeneralizedTime (RFC 8551 §2.5.1).
    private static func signingTime(_ time: Date) throws(CMSError) -> [UInt8] {
        guard let parts = time.partsInUTC, (-900..<8100).contains(parts.tm_year) else {
            throw .unsupported("a signing time outside the years 1000 to 9999")
        }
        let year = 1900 + Int(parts.tm_year)
        let digits = parts.monthAndDay + parts.clock
        let isShort = (1950..<2050).contains(year)
        let text = (isShort ? String("\(year)".suffix(2)) : "\(year)") + digits.joined() + "Z"
        let tag: ASN1Identifier = isShort ? .utcTime : .generalizedTime
        return DERFrame.header(tag, isConstructed: false, length: text.utf8.count) + Array(text.utf8)
    }

    private static func layOut(_ signer: Signer, _ info: [UInt8], contentCount: Int?) throws -> DERFrame {
        var frame: DERFrame
        if let contentCount {
            frame = DERFrame(.octetString, contentCount: contentCount)
            frame.wrap(.context(0))
        } else {
            frame = DERFrame(contentCount: 0)
        }
        frame.wrap(.sequence, before: try der { try $0.serialize(ASN1ObjectIdentifier.ContentType.data) })
        var certificates = signer.includesCertificate ? [signer.certificate.der] : []
        let others = [signer.identity.encryptionCertificate].compactMap(\.self) + signer.identity.chain
        for certificate in others where certificate != signer.certificate { certificates.append(certificate.der) }
        certificates.sort { $0.lexicographicallyPrecedes($1) }
        var encoded: [UInt8] = []
        for (index, certificate) in certificates.enumerated() where index == 0 || certificates[index - 1] != certificate
        {
            encoded += certificate
        }
        let set =
            encoded.isEmpty ? [] : DERFrame.header(.context(0), isConstructed: true, length: encoded.count) + encoded
        let infos = DERFrame.header(.set, isConstructed: true, length: info.count) + info
        let preamble = try der { coder in
            try coder.serialize(signer.identifier.version)
            try coder.serializeSetOf([AlgorithmIdentifier(signer.digest.oid)])
        }
        frame.wrap(.sequence, before: preamble, after: set + infos)
        frame.wrap(.context(0))
        frame.wrap(.sequence, before: try der { try $0.serialize(ASN1ObjectIdentifier.ContentType.signedData) })
        return frame
    }
}

extension EntityIdentifier {
    /// The version of a SignerInfo with this identifier (RFC 5652 §5.3).
    fileprivate var version: Int {
        if case .subjectKeyIdentifier = self { 3 } else { 1 }
    }
}
