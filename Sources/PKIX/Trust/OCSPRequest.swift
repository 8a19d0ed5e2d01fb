package import LibCrypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A request to an OCSP responder for the status of one certificate.
///
/// RFC 6960 §4.1, restricted as in RFC 5019 §2.1: one certificate, identified by SHA-1 hashes (which all responders
/// support), and no nonce, so that responders may send cached responses. The hash needs no security; the signature and time
/// of the response decide.
/// the signature of the answer and its time.
package struct OCSPRequest: Hashable, Sendable {
    /// The encoding of the request, to be posted.
    package let der: [UInt8]

    /// - Throws: libcrypto's error if it cannot read a certificate.
    package init(about certificate: Certificate, issuedBy issuer: Certificate) throws(OpenSSLError) {
        der = try OCSPRequestEncoder.der(about: certificate.x509(), issuedBy: issuer.x509())
    }
}

extension OCSPResponse {
    /// The validity period of the response's status of `certificate`; nil if it contains no usable status at `date`.
    package func lifetime(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Lifetime? {
        let answer = answer(about: certificate, issuedBy: issuer, at: date)
        return answer?.isCurrent == true ? answer?.lifetime : nil
    }
}
