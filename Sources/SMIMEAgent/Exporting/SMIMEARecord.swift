package import InternetMessage
import LibCrypto
package import PKIX

/// The DNS record by which others find a certificate for an address (RFC 8162).
package struct SMIMEARecord {
    private let owner: String
    private let certificate: Certificate

    /// - Throws: `OpenSSLError`
    package init(of address: EmailAddress, _ certificate: Certificate) throws {
        let digest = try DigestAlgorithm.sha256.digest(Array(Self.unquoted(address.localPart).utf8))
        owner = "\(Array(digest.prefix(28)).hexadecimal)._smimecert.\(address.asciiDomain)."
        self.certificate = certificate
    }

    /// The line of the zone file: the whole certificate, as its domain issued it (usage 3, selector 0, matching type 0).
    package var zoneLine: String { "\(owner) IN SMIMEA 3 0 0 \(certificate.der.hexadecimal)\n" }

    /// The local part without the quotes that only the syntax of mail needs (RFC 8162 §3).
    private static func unquoted(_ localPart: String) -> String {
        guard localPart.hasPrefix("\""), localPart.hasSuffix("\""), localPart.count >= 2 else { return localPart }
        var text = ""
        var isEscaped = false
        for character in localPart.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            text.append(character)
            isEscaped = false
        }
        return text
    }
}
