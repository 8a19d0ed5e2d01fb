import COpenSSL
public import Foundation
import SwiftASN1

/// What a responder says about certificates, as received; whether it may say so is checked where it is used.
///
/// RFC 6960 §4.2
public struct OCSPResponse: Sendable {
    /// The encoding as it was received.
    public let der: [UInt8]
    /// The certificates that it is about, read once for all copies of the value.
    private let subjects = OCSPSubjects()

    /// The greatest encoding that is looked at, in bytes.
    public static let maximumCount = 1 << 20

    /// Takes a response, which may be nothing of the kind.
    public init(der: [UInt8]) { self.der = der }

    /// The response in an OtherRevocationInfoFormat of a CMS object; nil if `element` is another.
    ///
    /// RFC 5652 §10.2.1, RFC 5940 §2.1
    init?(otherRevocationInfo element: [UInt8]) {
        guard element.first == 0xA1, element.count <= Self.maximumCount, let node = try? ASN1Node.read(element),
            let fields = (try? node.children(.context(1))).map(Array.init), fields.count == 2,
            (try? fields[0].objectIdentifier()) == [1, 3, 6, 1, 5, 5, 7, 16, 2]
        else { return nil }
        der = Array(fields[1].encodedBytes)
    }

    /// What a response says about one certificate.
    struct Answer {
        let status: RevocationCheck.Status
        /// Whether the time lies between the updates.
        let isCurrent: Bool
        /// From when to when the responder stands by it.
        let lifetime: Lifetime
    }

    /// From when to when an answer holds.
    public struct Lifetime: Hashable, Sendable {
        /// When what it says was known to be so: thisUpdate.
        public let since: Date
        /// How long the responder stands by it: nextUpdate, or the longest time that answers without one are believed.
        public let until: Date

        public init(since: Date, until: Date) {
            self.since = since
            self.until = until
        }
    }

    /// What a responder that `issuer` lets speak for it says about `certificate`; nil if it says nothing that counts.
    ///
    /// The responder is the issuer or has a certificate of the issuer's for this purpose (RFC 6960 §4.2.2.2), and `date`
    /// lies between the updates. Whoever was revoked at `date` for good is so whenever the responder said it.
    ///
    /// libcrypto: `OCSP_basic_verify`, `OCSP_single_get0_status`
    func answer(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Answer? {
        guard names(certificate, issuedBy: issuer) else { return nil }
        Libcrypto.start()
        defer { ERR_clear_error() }
        return try? withPointers(certificate.x509().owned, issuer.x509().owned) { subject, issuer in
            guard let basic = basicResponse() else { return nil }
            return try basic.withPointer { basic in
                let answer = Self.answer(in: basic, subject, issuer, time_t(date.timeIntervalSince1970))
                guard let answer else { return nil }
                let time = answer.isCurrent ? date : answer.lifetime.since
                return try Self.isSigned(basic, by: issuer, at: time) ? answer : nil
            }
        }
    }

    /// Whether one of its answers is about `certificate`; who signed it is left open.
    func names(_ certificate: Certificate, issuedBy issuer: Certificate) -> Bool {
        let subjects = subjects.read {
            guard let basic = basicResponse() else { return [] }
            return Self.subjects(basic)
        }
        return !subjects.isEmpty && !subjects.isDisjoint(with: OCSPCertificateID.all(of: certificate, issuedBy: issuer))
    }

    /// What it takes to read it, in the units of `PathEffort`.
    var cost: Int { PathEffort.reading + der.count >> 13 }

    private static func subjects(_ basic: borrowing Owned<OCSP_BASICRESP>) -> Set<OCSPCertificateID> {
        basic.withPointer { basic in
            Set(
                (0..<min(Int(OCSP_resp_count(basic)), maximumAnswers)).compactMap { index in
                    OCSP_resp_get0(basic, CInt(index)).flatMap { OCSPCertificateID(OCSP_SINGLERESP_get0_id($0)) }
                }
            )
        }
    }

    private func basicResponse() -> Owned<OCSP_BASICRESP>? {
        guard der.count <= Self.maximumCount else { return nil }
        let pointer = der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_OCSP_RESPONSE(nil, &start, bytes.count)
        }
        guard let response = Owned<OCSP_RESPONSE>(adopting: pointer) else { return nil }
        return response.withPointer { response in
            guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return nil }
            return Owned<OCSP_BASICRESP>(adopting: OCSP_response_get1_basic(response))
        }
    }

    private static func isSigned(_ basic: OpaquePointer, by issuer: OpaquePointer, at date: Date) throws -> Bool {
        let store = try Owned<X509_STORE>(X509_STORE_new(), "X509_STORE_new")
        let candidates = try Owned<CertificateStack>(smime_sk_X509_new_null(), "sk_X509_new_null")
        return try withPointers(store, candidates) { store, candidates throws(OpenSSLError) in
            try check(X509_STORE_add_cert(store, issuer), "X509_STORE_add_cert")
            let parameters = X509_STORE_get0_param(store)
            X509_VERIFY_PARAM_set_time(parameters, time_t(date.timeIntervalSince1970))
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            // A responder's certificate is the issuer's own work (RFC 6960 §4.2.2.2): there is nothing in between.
            X509_VERIFY_PARAM_set_depth(parameters, 0)
            try check(X509_up_ref(issuer), "X509_up_ref")
            if smime_sk_X509_push(candidates, issuer) <= 0 { X509_free(issuer) }
            return OCSP_basic_verify(basic, candidates, store, 0) == 1
        }
    }

    /// The most answers of one response that are looked at.
    private static let maximumAnswers = 100
    /// How far clocks may be apart, and for how long an answer without an end holds, in seconds.
    private static let (clockTolerance, longestAnswer) = (300, 7 * 86_400)

    private static func answer(
        in basic: OpaquePointer,
        _ subject: OpaquePointer,
        _ issuer: OpaquePointer,
        _ time: time_t
    ) -> Answer? {
        for index in 0..<min(Int(OCSP_resp_count(basic)), maximumAnswers) {
            guard let answer = OCSP_resp_get0(basic, CInt(index)), isAbout(answer, subject, issuer) else { continue }
            var reason: CInt = 0
            var (revoked, this, next): (Moment?, Moment?, Moment?)
            let status = OCSP_single_get0_status(answer, &reason, &revoked, &this, &next)
            guard let lifetime = lifetime(this, next) else { continue }
            let isCurrent = isCurrent(this, next, time)
            switch status {
            case V_OCSP_CERTSTATUS_GOOD where isCurrent:
                return Answer(status: .good, isCurrent: true, lifetime: lifetime)
            case V_OCSP_CERTSTATUS_REVOKED where isCurrent || isFinal(reason, since: revoked, time):
                return Answer(status: .revoked, isCurrent: isCurrent, lifetime: lifetime)
            default: continue
            }
        }
        return nil
    }

    private typealias Moment = UnsafeMutablePointer<ASN1_GENERALIZEDTIME>

    /// Whether a revocation was in force at `time`, and is none that may be taken back.
    private static func isFinal(_ reason: CInt, since revoked: Moment?, _ time: time_t) -> Bool {
        var time = time
        return revoked.map { X509_cmp_time($0, &time) < 0 } ?? false && reason != OCSP_REVOKED_STATUS_CERTIFICATEHOLD
    }

    private static func isCurrent(_ this: Moment?, _ next: Moment?, _ time: time_t) -> Bool {
        guard let this else { return false }
        // Less or more than 0; 0 for a moment that cannot be read, of which neither is true then.
        func order(_ moment: Moment, _ time: time_t) -> CInt {
            var time = time
            return X509_cmp_time(moment, &time)
        }
        guard order(this, time + clockTolerance) < 0 else { return false }
        if let next { return order(next, time - clockTolerance) > 0 }
        return order(this, time - longestAnswer) > 0
    }

    private static func lifetime(_ this: Moment?, _ next: Moment?) -> Lifetime? {
        guard let since = Date(moment: this) else { return nil }
        return Lifetime(
            since: since,
            until: Date(moment: next) ?? since.addingTimeInterval(TimeInterval(longestAnswer))
        )
    }

    /// Whether an answer names this certificate of this issuer, by any digest that responders use.
    ///
    /// libcrypto: `OCSP_id_cmp`
    private static func isAbout(_ answer: OpaquePointer, _ subject: OpaquePointer, _ issuer: OpaquePointer) -> Bool {
        let named = OCSP_SINGLERESP_get0_id(answer)
        return [EVP_sha1(), EVP_sha256(), EVP_sha384(), EVP_sha512()].contains { digest in
            let id = Owned<OCSP_CERTID>(adopting: OCSP_cert_to_id(digest, subject, issuer))
            return id?.withPointer { OCSP_id_cmp($0, named) == 0 } ?? false
        }
    }
}

extension OCSPResponse: Hashable {
    public static func == (one: OCSPResponse, other: OCSPResponse) -> Bool { one.der == other.der }

    // Where it ends is its signature, or a certificate's; the whole may be long.
    public func hash(into hasher: inout Hasher) { hasher.combine(der.suffix(256)) }
}
