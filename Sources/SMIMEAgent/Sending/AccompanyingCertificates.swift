package import CMSSyntax
package import Foundation
package import InternetMessage
package import LibCrypto
package import PKIX
package import SMIMEStore

/// The certificates that accompany a signature: its chain, and the certificate that answers are encrypted to. Both come from
/// one snapshot of the store.
package struct AccompanyingCertificates: Sendable {
    /// The authorities above the signer's certificate and above `encryptionCertificate`, without roots.
    package let chain: [Certificate]
    /// The certificate that answers are encrypted to; nil if answers can be encrypted to the signer's certificate, if
    /// the author is unknown, or if the author has no such certificate.
    ///
    /// RFC 8551 §2.5.3
    package let encryptionCertificate: Certificate?

    /// The certificates to send with a signature by `certificate`.
    ///
    /// - Parameters:
    ///   - identities: the identities to choose the encryption certificate from, if `certificate` cannot be encrypted to.
    ///   - author: the address that receives answers; nil if it is unknown.
    ///   - options: whether revoked certificates are excluded, and the revocation lists for that check.
    /// - Throws: the errors of reading the snapshot.
    package init(
        of certificate: Certificate,
        among identities: [AccountIdentity],
        for author: EmailAddress?,
        at time: Date,
        under options: ValidationOptions,
        in snapshot: StoreSnapshot
    ) throws {
        var chain = try snapshot.chain(above: certificate)
        var other: Certificate?
        if let author, !certificate.canEncrypt {
            other = try Self.encryption(among: identities, for: author, at: time, under: options, in: snapshot)
        }
        encryptionCertificate = other
        if let other {
            chain += try snapshot.chain(above: other).filter { !chain.contains($0) }
        }
        self.chain = chain
    }

    /// The signer with `identity`, whose certificate these certificates accompany.
    ///
    /// - Parameter digest: the digest; if nil, the digest that the key prefers.
    package func signer(with identity: Identity, digest: DigestAlgorithm? = nil) -> SignedDataWriter.Signer {
        var identity = identity
        identity.chain = chain
        identity.encryptionCertificate = encryptionCertificate
        return SignedDataWriter.Signer(identity, digest: digest)
    }

    private static func encryption(
        among identities: [AccountIdentity],
        for author: EmailAddress,
        at time: Date,
        under options: ValidationOptions,
        in snapshot: StoreSnapshot
    ) throws -> Certificate? {
        // Only certificates within their validity period are judged, because checking long revocation lists takes time.
        let valid = identities.map(\.certificate).filter { $0.isValid(at: time) }
        return IdentitySelection.current(
            of: identities,
            for: author,
            purpose: .encryption,
            at: time,
            verdicts: try snapshot.verdicts(on: valid, at: time, under: options)
        )?.certificate
    }
}
