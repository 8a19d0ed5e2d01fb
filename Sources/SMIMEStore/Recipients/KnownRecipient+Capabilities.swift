import Foundation
package import PKIX

extension KnownRecipient {
    /// The algorithms that the owner announced, preferred ones first; nil if there was no announcement. Both signed mail
    /// and the certificate can announce algorithms, and the newer announcement applies. That of the certificate dates from
    /// the certificate's first day.
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
