import CertificateDiscovery
package import InternetMessage
package import PKIX

/// The DNS record that publishes the certificate of an address (RFC 8162).
package struct SMIMEARecord {
    private let owner: String
    private let certificate: Certificate

    /// - Throws: `OpenSSLError`
    package init(of address: EmailAddress, _ certificate: Certificate) throws {
        owner = try SMIMEAName.name(of: address.localPart, at: address.asciiDomain) + "."
        self.certificate = certificate
    }

    /// The line of the zone file. It contains the whole certificate, whose only trust is that of the domain (usage 3,
    /// selector 0, matching type 0).
    package var zoneLine: String { "\(owner) IN SMIMEA 3 0 0 \(certificate.der.hexadecimal)\n" }
}
