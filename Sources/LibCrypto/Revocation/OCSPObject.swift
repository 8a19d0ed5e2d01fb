import COpenSSL

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A successful response of an OCSP responder, parsed by libcrypto.
package struct OCSPObject: ~Copyable {
    /// The identifier of a certificate in OCSP (RFC 6960 §4.1.1, CertID).
    package struct CertificateID: Hashable, Sendable {
        /// libcrypto's NID of the hash algorithm.
        fileprivate let hashAlgorithm: CInt
        fileprivate let issuerNameHash: [UInt8]
        fileprivate let issuerKeyHash: [UInt8]
        fileprivate let serialNumber: [UInt8]
        fileprivate let isNegative: Bool
    }

    /// The response about one certificate (RFC 6960 §4.2.1, SingleResponse).
    package struct SingleResponse {
        /// The status of the certificate (RFC 6960 §2.2).
        package enum Status {
            case good
            /// - Parameter isHold: whether the reason is certificateHold, a revocation that can be removed again.
            case revoked(since: Moment?, isHold: Bool)
            case unknown
        }

        package let id: CertificateID
        package let status: Status
        /// The time at which the responder knew the status to be correct.
        package let thisUpdate: Moment?
        /// The time at or before which newer information is available; nil if the response contains none.
        package let nextUpdate: Moment?
    }

    /// A time in a response.
    package struct Moment {
        /// The time; nil if it cannot be parsed.
        package let date: Date?
        /// Whether the time is encoded as RFC 5280 §4.1.2.5.2 requires. If not, `isReached` and `isLater` are both false.
        package let isWellFormed: Bool
    }

    private let response: Owned<OCSP_BASICRESP>

    /// Reads an OCSPResponse; nil if it is malformed or its status is not successful.
    ///
    /// libcrypto: `d2i_OCSP_RESPONSE`, `OCSP_response_get1_basic`
    package init?(der: [UInt8]) {
        Libcrypto.start()
        defer { ERR_clear_error() }
        let pointer = der.decoded { d2i_OCSP_RESPONSE(nil, $0, $1) }
        let whole = Owned<OCSP_RESPONSE>(adopting: pointer)
        let basic = whole?.withPointer { response -> Owned<OCSP_BASICRESP>? in
            guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return nil }
            return Owned<OCSP_BASICRESP>(adopting: OCSP_response_get1_basic(response))
        }
        guard let basic else { return nil }
        response = basic
    }

    /// The first single responses, at most `most`.
    ///
    /// libcrypto: `OCSP_resp_get0`, `OCSP_single_get0_status`
    package func answers(atMost most: Int) -> [SingleResponse] {
        response.withPointer { basic in
            (0..<min(max(0, Int(OCSP_resp_count(basic))), most)).compactMap { index in
                OCSP_resp_get0(basic, CInt(index)).flatMap(SingleResponse.init)
            }
        }
    }

    /// A responder to which an authority has delegated OCSP signing.
    package struct Delegate {
        /// The DER of the responder's certificate.
        package let certificate: [UInt8]
        /// Whether the authority asks not to check whether this certificate was revoked (RFC 6960 §4.2.2.2.1).
        package let isExemptFromRevocation: Bool
    }

    /// The responder that signed the response; nil if that is `issuer` itself, or if the response does not contain the
    /// responder's certificate.
    ///
    /// libcrypto: `OCSP_resp_get0_signer`
    package func delegate(of issuer: Handle<X509>) throws(OpenSSLError) -> Delegate? {
        defer { ERR_clear_error() }
        let candidates = try Owned<CertificateStack>([issuer])
        return try withPointers(response, candidates) { response, candidates throws(OpenSSLError) in
            try issuer.owned.withPointer { issuer throws(OpenSSLError) in
                var signer: OpaquePointer?
                let result = OCSP_resp_get0_signer(response, &signer, candidates)
                guard result == 1, let signer, X509_cmp(signer, issuer) != 0 else { return nil }
                return Delegate(
                    certificate: try encodedCertificate(signer),
                    isExemptFromRevocation: X509_get_ext_by_NID(signer, NID_id_pkix_OCSP_noCheck, -1) >= 0
                )
            }
        }
    }

    /// Whether the response was signed by `issuer`, or by a responder to which `issuer` has delegated OCSP signing, as of
    /// `date`.
    ///
    /// A delegated responder's certificate must be issued by `issuer` directly, without an intermediate (RFC 6960 §4.2.2.2).
    ///
    /// libcrypto: `OCSP_basic_verify`
    package func isSigned(by issuer: Handle<X509>, at date: Date) throws(OpenSSLError) -> Bool {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        let store = try Owned<X509_STORE>(X509_STORE_new(), "X509_STORE_new")
        let candidates = try Owned<CertificateStack>([issuer])
        return try withPointers(store, candidates) { store, candidates throws(OpenSSLError) in
            try issuer.owned.withPointer { issuer throws(OpenSSLError) in
                try check(X509_STORE_add_cert(store, issuer), "X509_STORE_add_cert")
            }
            let parameters = X509_STORE_get0_param(store)
            X509_VERIFY_PARAM_set_time(parameters, time_t(date.timeIntervalSince1970))
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            X509_VERIFY_PARAM_set_depth(parameters, 0)
            return response.withPointer { OCSP_basic_verify($0, candidates, store, 0) == 1 }
        }
    }
}

extension OCSPObject.CertificateID {
    /// The CertIDs of `certificate` with every digest that responders use.
    ///
    /// libcrypto: `OCSP_cert_to_id`
    package static func all(of certificate: Handle<X509>, issuedBy issuer: Handle<X509>) -> [Self] {
        Libcrypto.start()
        defer { ERR_clear_error() }
        return withPointers(certificate.owned, issuer.owned) { subject, issuer in
            [EVP_sha1(), EVP_sha256(), EVP_sha384(), EVP_sha512()].compactMap { digest in
                let id = Owned<OCSP_CERTID>(adopting: OCSP_cert_to_id(digest, subject, issuer))
                return id?.withPointer { Self($0) }
            }
        }
    }

    /// Reads a CertID; nil if it cannot be read.
    ///
    /// libcrypto: `OCSP_id_get0_info`
    fileprivate init?(_ id: OpaquePointer?) {
        var (name, key): (UnsafeMutablePointer<ASN1_OCTET_STRING>?, UnsafeMutablePointer<ASN1_OCTET_STRING>?)
        var algorithm: OpaquePointer?
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        guard let id, OCSP_id_get0_info(&name, &algorithm, &key, &serial, id) == 1 else { return nil }
        hashAlgorithm = OBJ_obj2nid(algorithm)
        issuerNameHash = Self.bytes(name)
        issuerKeyHash = Self.bytes(key)
        serialNumber = Self.bytes(serial)
        isNegative = (serial?.pointee.type ?? 0) & V_ASN1_NEG != 0
    }

    private static func bytes(_ text: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
        guard let text, let start = ASN1_STRING_get0_data(text) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(text))))
    }
}

extension OCSPObject.SingleResponse {
    fileprivate init?(_ answer: OpaquePointer) {
        guard let id = OCSPObject.CertificateID(OCSP_SINGLERESP_get0_id(answer)) else { return nil }
        var reason: CInt = 0
        var (revoked, this, next): (Time?, Time?, Time?)
        let code = OCSP_single_get0_status(answer, &reason, &revoked, &this, &next)
        self.id = id
        status =
            switch code {
            case V_OCSP_CERTSTATUS_GOOD: .good
            case V_OCSP_CERTSTATUS_REVOKED:
                .revoked(since: Self.moment(revoked), isHold: reason == OCSP_REVOKED_STATUS_CERTIFICATEHOLD)
            default: .unknown
            }
        (thisUpdate, nextUpdate) = (Self.moment(this), Self.moment(next))
    }

    private typealias Time = UnsafeMutablePointer<ASN1_GENERALIZEDTIME>

    /// Converts a time; nil if `time` is nil.
    ///
    /// libcrypto: `X509_cmp_time`, which returns 0 for an ill-formed time.
    private static func moment(_ time: Time?) -> OCSPObject.Moment? {
        guard let time else { return nil }
        var start: time_t = 0
        return OCSPObject.Moment(date: Date(moment: time), isWellFormed: X509_cmp_time(time, &start) != 0)
    }
}

extension OCSPObject.Moment {
    /// Whether this time is at or before `time`.
    package func isReached(by time: Date) -> Bool { isWellFormed && date.map { $0 <= time } ?? false }

    /// Whether this time is after `time`.
    package func isLater(than time: Date) -> Bool { isWellFormed && date.map { $0 > time } ?? false }
}

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
