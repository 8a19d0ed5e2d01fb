package import LibCrypto
import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of `Certificate` and `TBSCertificate`.
///
/// RFC 5280 §4.1
struct CertificateFields {
    let serialNumber: [UInt8]
    let signatureAlgorithm: AlgorithmIdentifier
    let issuer: DistinguishedName
    let subject: DistinguishedName
    let notBefore: Date
    let notAfter: Date
    let publicKeyInfo: [UInt8]
    /// The encoded `Extension` elements.
    let extensions: [ASN1Node]

    /// Parses one certificate in DER.
    init(_ der: [UInt8]) throws {
        // A BER parser would accept many encodings of one certificate, and so many fingerprints, because the bytes around the
        // signed part are not signed.
        var certificate = try ElementReader(ASN1Node.readDER(der))
        let signed = try certificate.next(.sequence)
        let outerAlgorithm = try certificate.next(.sequence)
        _ = try certificate.next(.bitString).bits()
        guard certificate.remaining.isEmpty else {
            throw ElementReader.Mismatch(description: "elements follow the signature")
        }

        var fields = try ElementReader(signed)
        _ = fields.optional(.context(0))
        serialNumber = Array(try fields.next(.integer).primitive())
        let innerAlgorithm = try fields.next(.sequence)
        signatureAlgorithm = try AlgorithmIdentifier(berEncoded: innerAlgorithm)
        // RFC 5280 §4.1.1.2: both algorithms must be equal. Otherwise an attacker could replace the outer algorithm, which is
        // not signed.
        guard outerAlgorithm.encodedBytes == innerAlgorithm.encodedBytes else {
            throw ElementReader.Mismatch(description: "two different signature algorithms")
        }
        issuer = try DistinguishedName(fields.next(.sequence))
        var validity = try ElementReader(fields.next(.sequence))
        notBefore = try validity.next().time()
        notAfter = try validity.next().time()
        subject = try DistinguishedName(fields.next(.sequence))
        publicKeyInfo = Array(try fields.next(.sequence).encodedBytes)
        _ = fields.optional(.context(1))
        _ = fields.optional(.context(2))
        extensions = try fields.optional(.context(3)).map { Array(try ElementReader($0.onlyChild()).remaining) } ?? []
    }

    /// The content of extnValue in the extension `type`; nil if absent or unreadable.
    func extensionValue(_ type: ASN1ObjectIdentifier) -> [UInt8]? { extensions.value(ofExtension: type) }
}

/// The names of the signature algorithms of certificates. The name of an algorithm with SHA-1, MD5 or MD2 ends in the
/// digest's name.
enum CertificateSignature {
    static func name(_ identifier: AlgorithmIdentifier) -> String {
        // The digest of the mask (MGF1) does not matter: a forgery needs two certificates with the same digest.
        if identifier.algorithm == ASN1ObjectIdentifier.Key.rsaPSS,
            let digest = try? PSSParameters(identifier.parameters).digest, [.md5, .sha1].contains(digest)
        {
            return "rsa-pss-\(digest.rawValue)"
        }
        return names.first { $0.oid == identifier.algorithm }?.name ?? PostQuantumScheme(oid: identifier.algorithm)?
            .reportName
            ?? "\(identifier.algorithm)"
    }

    private static let names: [(oid: ASN1ObjectIdentifier, name: String)] = [
        ([1, 2, 840, 113549, 1, 1, 2], "rsa-md2"), ([1, 2, 840, 113549, 1, 1, 4], "rsa-md5"),
        ([1, 2, 840, 113549, 1, 1, 5], "rsa-sha1"), ([1, 2, 840, 113549, 1, 1, 14], "rsa-sha224"),
        ([1, 2, 840, 113549, 1, 1, 11], "rsa-sha256"), ([1, 2, 840, 113549, 1, 1, 12], "rsa-sha384"),
        ([1, 2, 840, 113549, 1, 1, 13], "rsa-sha512"), (ASN1ObjectIdentifier.Key.rsaPSS, "rsa-pss"),
        ([1, 2, 840, 10045, 4, 1], "ecdsa-sha1"), ([1, 2, 840, 10045, 4, 3, 2], "ecdsa-sha256"),
        ([1, 2, 840, 10045, 4, 3, 3], "ecdsa-sha384"), ([1, 2, 840, 10045, 4, 3, 4], "ecdsa-sha512"),
        ([2, 16, 840, 1, 101, 3, 4, 3, 14], "rsa-sha3-256"), ([2, 16, 840, 1, 101, 3, 4, 3, 15], "rsa-sha3-384"),
        ([2, 16, 840, 1, 101, 3, 4, 3, 16], "rsa-sha3-512"), ([2, 16, 840, 1, 101, 3, 4, 3, 10], "ecdsa-sha3-256"),
        ([2, 16, 840, 1, 101, 3, 4, 3, 11], "ecdsa-sha3-384"), ([2, 16, 840, 1, 101, 3, 4, 3, 12], "ecdsa-sha3-512"),
        ([1, 2, 840, 10040, 4, 3], "dsa-sha1"), ([2, 16, 840, 1, 101, 3, 4, 3, 2], "dsa-sha256"),
        ([1, 3, 101, 112], "ed25519"), ([1, 3, 101, 113], "ed448"),
        // Older identifiers, by the OSE Implementors' Workshop (OIW). The numbers 13 and 15 mean SHA-0, which is weaker still.
        ([1, 3, 14, 3, 2, 3], "rsa-md5"), ([1, 3, 14, 3, 2, 15], "rsa-sha1"), ([1, 3, 14, 3, 2, 29], "rsa-sha1"),
        ([1, 3, 14, 3, 2, 13], "dsa-sha1"), ([1, 3, 14, 3, 2, 27], "dsa-sha1"),
    ]
}

extension SignatureAlgorithm {
    /// The signature algorithm for the key of `certificate`, and its AlgorithmIdentifier.
    ///
    /// - Throws: `CMSError.unsupported` if the key cannot sign, or cannot sign with this digest.
    package static func signing(for certificate: Certificate, digest: DigestAlgorithm) throws -> (
        Self, AlgorithmIdentifier
    ) {
        guard certificate.signatureDigests.contains(digest) else {
            throw CMSError.unsupported("signing with \(certificate.publicKeyAlgorithm) and \(digest.rawValue)")
        }
        switch certificate.publicKeyAlgorithm {
        case .rsa:
            return (
                Self(rsa: digest),
                AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsa, parameters: AlgorithmIdentifier.null)
            )
        case .rsaPSS:
            let parameters = try PSSParameters(signing: digest, publicKeyInfo: certificate.publicKeyInfo)
            let identifier = AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsaPSS, parameters: try parameters.encoded())
            return (try Self(identifier), identifier)
        case .ellipticCurve:
            guard let row = rows.first(where: { $0.scheme == .ecdsa && $0.digest == digest }) else { break }
            let identifier = AlgorithmIdentifier(row.oid)
            return (try Self(identifier), identifier)
        case .ed25519:
            let identifier = AlgorithmIdentifier(ASN1ObjectIdentifier.Key.ed25519)
            return (try Self(identifier), identifier)
        case .postQuantum(let scheme):
            let identifier = AlgorithmIdentifier(scheme.oid)
            return (try Self(identifier), identifier)
        default: break
        }
        throw CMSError.unsupported("signing with \(certificate.publicKeyAlgorithm) and \(digest.rawValue)")
    }
}

extension Certificate {
    /// The digests with which this package can sign with the certificate's key, the preferred digest first; empty if this
    /// package does not sign with such a key.
    package var signatureDigests: [DigestAlgorithm] {
        switch publicKeyAlgorithm {
        case .ed25519: [.sha512]
        case .rsa, .ellipticCurve: [.sha256, .sha384, .sha512]
        case .postQuantum(let scheme): scheme.isOffered ? scheme.digests : []
        case .rsaPSS:
            (try? PSSParameters.restriction(publicKeyInfo)).map {
                $0.map { [$0.digest] } ?? [.sha256, .sha384, .sha512]
            }
                ?? []
        case .dsa, .other, .x25519: []
        }
    }
}
