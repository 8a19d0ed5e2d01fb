import COpenSSL
public import Foundation

/// The question to a responder whether one certificate was revoked.
///
/// RFC 6960 §4.1, in the form of RFC 5019 §2.1: one certificate, named by SHA-1, which is what all responders
/// understand, and no nonce, so that responders may answer from what they have. The name protects nothing; what counts is
/// the signature of the answer and its time.
public struct OCSPRequest: Hashable, Sendable {
    /// The encoding, as it is posted.
    public let der: [UInt8]

    /// libcrypto: `OCSP_request_add0_id`, `i2d_OCSP_REQUEST`
    public init(about certificate: Certificate, issuedBy issuer: Certificate) throws(OpenSSLError) {
        Libcrypto.start()
        let request = try Owned<OCSP_REQUEST>(OCSP_REQUEST_new(), "OCSP_REQUEST_new")
        let subject = try certificate.x509()
        let authority = try issuer.x509()
        let id = try withPointers(subject.owned, authority.owned) { subject, issuer throws(OpenSSLError) in
            try Owned<OCSP_CERTID>(OCSP_cert_to_id(EVP_sha1(), subject, issuer), "OCSP_cert_to_id").release()
        }
        der = try request.withPointer { request throws(OpenSSLError) -> [UInt8] in
            guard OCSP_request_add0_id(request, id) != nil else {
                OCSP_CERTID_free(id)
                throw OpenSSLError("OCSP_request_add0_id")
            }
            let count = i2d_OCSP_REQUEST(request, nil)
            try check(count, "i2d_OCSP_REQUEST")
            return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
                var start = buffer.baseAddress
                written = Int(max(0, i2d_OCSP_REQUEST(request, &start)))
            }
        }
    }
}

extension OCSPResponse {
    /// From when to when it says something about `certificate`; nil if it says nothing that counts at `date`.
    public func lifetime(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Lifetime? {
        let answer = answer(about: certificate, issuedBy: issuer, at: date)
        return answer?.isCurrent == true ? answer?.lifetime : nil
    }
}
