import Foundation
import PKIX
import SMIMEStore

/// The values of a certificate that are listed. For lists of thousands of certificates, only these values are in memory.
struct ListedCertificate: Sendable {
    let address: AddressScope
    let addresses: [String]
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether it is known that the certificate was revoked.
    var isRevoked = false

    init(_ address: AddressScope, _ certificate: Certificate) {
        self.address = address
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }
}
