import Foundation
import PKIX

/// The properties, apart from its chain, that decide whether mail to an address is encrypted to a certificate.
protocol SelectableRecipient {
    var address: AddressScope { get }
    var source: KnownRecipient.Source { get }
    var trust: KnownRecipient.Trust { get }
    var rank: Int { get }
    var lacksKey: Bool { get }
    /// The bytes of the certificate's `PublicKeyDigest`.
    var key: [UInt8] { get }
    var traits: CertificateTraits { get }
    /// Whether the certificate names `address` or, for a domain, an address of it.
    var namesAddress: Bool { get }
    /// The columns of the certificate; nil for one from another source.
    var record: VerdictRecord? { get }

    /// The same with another trust.
    func with(_ trust: KnownRecipient.Trust) -> Self
}

/// The properties in a certificate that decide whether mail is encrypted to it.
struct CertificateTraits: Sendable {
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether this libcrypto can work with its key at all.
    let isKeyOffered: Bool
    let isKeyWeak: Bool
    let keyAllowsEncryption: Bool
    let isAuthority: Bool
}

/// An item that can replace another one of its kind.
protocol Renewable {
    var fingerprint: Fingerprint { get }
    var notBefore: Date { get }
    var notAfter: Date { get }
}

extension Renewable {
    /// Whether this became valid after `other`; of equals the one that ends later, so that the order is total.
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
