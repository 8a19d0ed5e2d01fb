package import LibCrypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The question to a responder whether one certificate was revoked.
///
/// RFC 6960 §4.1, in the form of RFC 5019 §2.1: one certificate, named by SHA-1, which is what all responders
/// understand, and no nonce, so that responders may answer from what they have. The name protects nothing; what counts is
/// the signature of the answer and its time.
package struct OCSPRequest: Hashable, Sendable {
    /// The encoding, as it is posted.
    package let der: [UInt8]

    /// - Throws: libcrypto's error for a certificate that it cannot read.
    package init(about certificate: Certificate, issuedBy issuer: Certificate) throws(OpenSSLError) {
        der = try OCSPQuestion.der(about: certificate.x509(), issuedBy: issuer.x509())
    }
}

extension OCSPResponse {
    /// The period for which it has a status of `certificate`; nil if it has none that counts at `date`.
    package func lifetime(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Lifetime? {
        let answer = answer(about: certificate, issuedBy: issuer, at: date)
        return answer?.isCurrent == true ? answer?.lifetime : nil
    }
}
