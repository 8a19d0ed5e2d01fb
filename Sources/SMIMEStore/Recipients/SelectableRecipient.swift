import Foundation
import PKIX

/// The properties that decide whether mail to an address is encrypted to a certificate, except for the chain.
protocol SelectableRecipient {
    var address: AddressScope { get }
    var source: KnownRecipient.Source { get }
    var trust: KnownRecipient.Trust { get }
    var rank: Int { get }
    var lacksKey: Bool { get }
    /// The bytes of the certificate's `PublicKeyDigest`.
    var key: [UInt8] { get }
    var traits: CertificateTraits { get }
    /// Whether the certificate names `address`. For a domain: whether the certificate names an address in the domain.
    var namesAddress: Bool { get }
    /// The database columns of the certificate; nil if it is from another source.
    var record: VerdictRecord? { get }

    /// This recipient with another trust.
    func with(_ trust: KnownRecipient.Trust) -> Self
}

/// The properties of a certificate that decide whether mail is encrypted to it.
struct CertificateTraits: Sendable {
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether this libcrypto supports the certificate's key.
    let isKeyOffered: Bool
    let isKeyWeak: Bool
    let keyAllowsEncryption: Bool
    let isAuthority: Bool
}

/// An item that can be compared by age with others of its kind.
protocol Renewable {
    var fingerprint: Fingerprint { get }
    var notBefore: Date { get }
    var notAfter: Date { get }
}

extension Renewable {
    /// Whether this item became valid after `other`. If both became valid at the same time, the one that expires later is
    /// newer. If both periods are equal, the fingerprints decide, so that the order is total.
    func isNewer(than other: Self) -> Bool {
        if notBefore != other.notBefore { return notBefore > other.notBefore }
        if notAfter != other.notAfter { return notAfter > other.notAfter }
        return fingerprint < other.fingerprint
    }
}

extension Certificate: Renewable {}
extension CertificateTraits: Renewable {}

extension CertificateTraits {
    init(of certificate: Certificate) {
        self.init(
            fingerprint: certificate.fingerprint,
            notBefore: certificate.notBefore,
            notAfter: certificate.notAfter,
            isKeyOffered: certificate.publicKeyAlgorithm.isOffered,
            isKeyWeak: certificate.publicKeyAlgorithm.isWeak,
            keyAllowsEncryption: certificate.keyAllowsEncryption,
            isAuthority: certificate.isCertificateAuthority
        )
    }
}

extension KnownRecipient: SelectableRecipient {
    var key: [UInt8] { certificate.publicKeyDigest.bytes }
    var traits: CertificateTraits { CertificateTraits(of: certificate) }
    var namesAddress: Bool { certificate.names(address) }
}
