package import LibCrypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A request to an OCSP responder for the status of one certificate.
///
/// RFC 6960 §4.1, restricted as in RFC 5019 §2.1: one certificate, identified by SHA-1 hashes (which all responders support),
/// and no nonce, so that responders may send cached responses. The hash needs no security, because the signature and the time
/// of the response decide.
package struct OCSPRequest: Hashable, Sendable {
    /// The encoding of the request, which is sent with HTTP POST.
    package let der: [UInt8]

    /// - Throws: libcrypto's error if it cannot read a certificate.
    package init(about certificate: Certificate, issuedBy issuer: Certificate) throws(OpenSSLError) {
        der = try OCSPRequestEncoder.der(about: certificate.x509(), issuedBy: issuer.x509())
    }
}

extension OCSPResponse {
    /// The validity period of the status of `certificate` in the response; nil if the response contains no usable status at
    /// `date`.
    package func lifetime(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Lifetime? {
        let answer = answer(about: certificate, issuedBy: issuer, at: date)
        return answer?.isCurrent == true ? answer?.lifetime : nil
    }
}
