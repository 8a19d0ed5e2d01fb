import COpenSSL
import Synchronization

/// How responders name a certificate.
///
/// RFC 6960 §4.1.1, CertID
struct OCSPCertificateID: Hashable, Sendable {
    /// libcrypto's number of the digest.
    private let digest: CInt
    private let issuerName: [UInt8]
    private let issuerKey: [UInt8]
    private let serialNumber: [UInt8]
    private let isNegative: Bool

    /// libcrypto: `OCSP_id_get0_info`
    init?(_ id: OpaquePointer?) {
        var (name, key): (UnsafeMutablePointer<ASN1_OCTET_STRING>?, UnsafeMutablePointer<ASN1_OCTET_STRING>?)
        var algorithm: OpaquePointer?
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        guard let id, OCSP_id_get0_info(&name, &algorithm, &key, &serial, id) == 1 else { return nil }
        digest = OBJ_obj2nid(algorithm)
        issuerName = Self.bytes(name)
        issuerKey = Self.bytes(key)
        serialNumber = Self.bytes(serial)
        isNegative = (serial?.pointee.type ?? 0) & V_ASN1_NEG != 0
    }

    private static func bytes(_ text: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
        guard let text, let start = ASN1_STRING_get0_data(text) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(text))))
    }

    /// The names of `certificate` by all digests that responders use.
    ///
    /// libcrypto: `OCSP_cert_to_id`
    static func all(of certificate: Certificate, issuedBy issuer: Certificate) -> [OCSPCertificateID] {
        let pair = Pair(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        if let known = recent[pair] { return known }
        Libcrypto.start()
        defer { ERR_clear_error() }
        let all = try? withPointers(certificate.x509().owned, issuer.x509().owned) { subject, issuer in
            [EVP_sha1(), EVP_sha256(), EVP_sha384(), EVP_sha512()].compactMap { digest in
                let id = Owned<OCSP_CERTID>(adopting: OCSP_cert_to_id(digest, subject, issuer))
                return id?.withPointer { OCSPCertificateID($0) }
            }
        }
        guard let all else { return [] }
        recent[pair] = all
        return all
    }

    private struct Pair: Hashable {
        let certificate: Fingerprint
        let issuer: Fingerprint
    }
    private static let recent = RecentValues<Pair, [OCSPCertificateID]>(capacity: 256)
}

/// The certificates that one response is about, read when they are asked for first.
final class OCSPSubjects: Sendable {
    private let subjects = Mutex<Set<OCSPCertificateID>?>(nil)

    func read(_ make: () -> Set<OCSPCertificateID>) -> Set<OCSPCertificateID> {
        subjects.withLock { subjects in
            if let subjects { return subjects }
            let made = make()
            subjects = made
            return made
        }
    }
}
