import Foundation
package import PKIX

extension KnownRecipient {
    /// What the owner announces to read, best first: by the newest of signed mail and of the certificate, which speaks
    /// as of its first day; nil if nothing was ever announced.
    ///
    /// RFC 8551 §2.7.1, RFC 4262
    package var announced: [SMIMECapability]? {
        let list: ([UInt8]?) -> [SMIMECapability]? = { $0.flatMap { try? SMIMECapability.list($0) } }
        let (mail, issued) = (list(capabilities), list(certificate.capabilitiesEncoding))
        guard let mail, let issued else { return mail ?? issued }
        return (capabilitiesTime ?? .distantPast) >= certificate.notBefore ? mail : issued
    }
}
