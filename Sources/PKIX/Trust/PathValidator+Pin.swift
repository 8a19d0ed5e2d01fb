#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PathValidator {
    /// How a pin speaks for a certificate.
    enum Pin {
        /// The certificate itself was pinned.
        case exact
        /// Another certificate about its key was pinned, as before a renewal.
        case key
        case none

        /// Whether the judged certificate is trusted by itself, whatever `path` leads to.
        ///
        /// Any person can issue a certificate for a public key. If its issuer is at hand, the signature must be the
        /// issuer's.
        func covers(_ path: CertificatePath) -> Bool {
            switch self {
            case .exact: true
            case .key: path.end != .forged || path.certificates.count > 1
            case .none: false
            }
        }
    }

    /// The pin of `certificate`; `check` finds out whether the pinned certificate was revoked.
    func pin(of certificate: Certificate, _ check: PathCheck, _ question: VerdictCacheKey, _ date: Date) -> Pin {
        let key = certificate.publicKeyDigest
        guard store.pinned.contains(key) else { return .none }
        let originals = store.pinnedCertificates.filter { $0.publicKeyDigest == key }
        guard !originals.isEmpty, !originals.contains(certificate) else { return .exact }
        func builder() -> PathBuilder {
            PathBuilder(store, systemAnchors: nil, extra: question.extra, effort: budget, at: date)
        }
        var ownBuilder = builder()
        guard !certificate.isSelfIssued || ownBuilder.isSigned(certificate, by: certificate) else { return .none }
        // A certificate of the same key with another serial number does not undo a revocation.
        let isRevoked = originals.contains { original in
            var builder = builder()
            return builder.paths(from: original).contains {
                check.revocation(of: $0, isPinned: true)?.status == .revoked
            }
        }
        return isRevoked ? .none : .key
    }
}
