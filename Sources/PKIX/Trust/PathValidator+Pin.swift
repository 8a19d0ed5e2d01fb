#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PathValidator {
    /// How a certificate is pinned.
    enum Pin {
        /// The certificate itself was pinned.
        case exact
        /// Another certificate with the same key was pinned, for example before a renewal.
        case key
        case none

        /// Whether the judged certificate is trusted because of the pin, even if `path` does not lead to a trust anchor.
        ///
        /// Anyone can issue a certificate for a public key. Therefore, if the issuer's certificate is available, the
        /// signature must be verified with the issuer's key.
        func covers(_ path: CertificatePath) -> Bool {
            switch self {
            case .exact: true
            case .key: path.end != .forged || path.certificates.count > 1
            case .none: false
            }
        }
    }

    /// How `certificate` is pinned. `check` determines whether the pinned certificate was revoked.
    func pin(of certificate: Certificate, _ check: PathCheck, _ cacheKey: VerdictCacheKey, date: Date) -> Pin {
        let key = certificate.publicKeyDigest
        guard store.pinned.contains(key) else { return .none }
        let originals = store.pinnedCertificates.filter { $0.publicKeyDigest == key }
        guard !originals.isEmpty, !originals.contains(certificate) else { return .exact }
        func builder() -> PathBuilder {
            PathBuilder(store, systemAnchors: nil, extra: cacheKey.extra, budget: budget, at: date)
        }
        var ownBuilder = builder()
        guard !certificate.isSelfIssued || ownBuilder.isSigned(certificate, by: certificate) else { return .none }
        // A certificate of the same key with another serial number does not cancel a revocation.
        let isRevoked = originals.contains { original in
            var builder = builder()
            return builder.paths(from: original).contains {
                check.revocation(of: $0, isPinned: true)?.status == .revoked
            }
        }
        return isRevoked ? .none : .key
    }
}
