import COpenSSL

/// Encodes requests to OCSP responders.
package enum OCSPRequestEncoder {
    /// The DER of an OCSPRequest about one certificate, identified by SHA-1 hashes, without a nonce.
    ///
    /// libcrypto: `OCSP_request_add0_id`, `i2d_OCSP_REQUEST`
    package static func der(about certificate: Handle<X509>, issuedBy issuer: Handle<X509>) throws(OpenSSLError)
        -> [UInt8]
    {
        Libcrypto.start()
        let request = try Owned<OCSP_REQUEST>(OCSP_REQUEST_new(), "OCSP_REQUEST_new")
        let id = try withPointers(certificate.owned, issuer.owned) { subject, issuer throws(OpenSSLError) in
            try Owned<OCSP_CERTID>(OCSP_cert_to_id(EVP_sha1(), subject, issuer), "OCSP_cert_to_id").release()
        }
        return try request.withPointer { request throws(OpenSSLError) -> [UInt8] in
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
