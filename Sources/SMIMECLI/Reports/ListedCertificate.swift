import Foundation
import PKIX
import SMIMEStore

/// The listed values of a certificate; lists of thousands only keep these in memory.
struct ListedCertificate: Sendable {
    let address: AddressScope
    let addresses: [String]
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date

    init(_ address: AddressScope, _ certificate: Certificate) {
        self.address = address
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }
}
