package import LibCrypto
import SwiftASN1

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
    /// The digests with which this package can sign with the certificate's key, the preferred digest first; empty if the key
    /// cannot sign.
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
