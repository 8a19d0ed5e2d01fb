import Foundation
package import PKIX

extension KnownRecipient {
    /// The algorithms that the owner announced, best first: by the newer of signed mail and the certificate, which
    /// counts from its first day; nil if there was no announcement.
    ///
    /// RFC 8551 §2.7.1, RFC 4262
    package var announced: [SMIMECapability]? { announcement.value { readCapabilities() } }

    private func readCapabilities() -> [SMIMECapability]? {
        let list: ([UInt8]?) -> [SMIMECapability]? = { $0.flatMap { try? SMIMECapability.list($0) } }
        let (mail, issued) = (list(capabilities), list(certificate.capabilitiesEncoding))
        guard let mail, let issued else { return mail ?? issued }
        return (capabilitiesTime ?? .distantPast) >= certificate.notBefore ? mail : issued
    }
}
