import LibCrypto
import Synchronization

/// The identifiers of certificates in OCSP responses.
enum OCSPCertificateNames {
    /// The identifiers of `certificate` with every digest that responders use; empty if libcrypto cannot read the
    /// certificate.
    static func all(of certificate: Certificate, issuedBy issuer: Certificate) -> [OCSPObject.CertificateID] {
        let pair = Pair(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        if let known = recent[pair] { return known }
        guard let subject = try? certificate.x509(), let authority = try? issuer.x509() else { return [] }
        let all = OCSPObject.CertificateID.all(of: subject, issuedBy: authority)
        recent[pair] = all
        return all
    }

    private struct Pair: Hashable {
        let certificate: Fingerprint
        let issuer: Fingerprint
    }

    private static let recent = BoundedCache<Pair, [OCSPObject.CertificateID]>(capacity: 256)
}

/// The certificates that one response is about, parsed on first use.
final class OCSPSubjects: Sendable {
    private let subjects = Mutex<Set<OCSPObject.CertificateID>?>(nil)

    func read(_ make: () -> Set<OCSPObject.CertificateID>) -> Set<OCSPObject.CertificateID> {
        subjects.withLock { subjects in
            if let subjects { return subjects }
            let made = make()
            subjects = made
            return made
        }
    }
}
