import Foundation

extension TrustStore {
    /// How a pin speaks for a certificate.
    enum Pin {
        /// The certificate itself was pinned.
        case exact
        /// Another certificate about its key was pinned, as before a renewal.
        case key
        case none

        /// Whether the judged certificate is trusted by itself, whatever `path` leads to.
        ///
        /// Anybody can write a certificate about a public key. Where its issuer is at hand the signature must be the issuer's.
        func covers(_ path: CertificatePath) -> Bool {
            switch self {
            case .exact: true
            case .key: path.end != .forged || path.certificates.count > 1
            case .none: false
            }
        }
    }

    /// The pin of `certificate`, with the means of `inspection`.
    func pin(of certificate: Certificate, _ inspection: PathCheck, _ question: VerdictCacheKey) -> Pin {
        let key = certificate.publicKeyDigest
        guard pinned.contains(key) else { return .none }
        let originals = pinnedCertificates.filter { $0.publicKeyDigest == key }
        guard !originals.isEmpty, !originals.contains(certificate) else { return .exact }
        func finder() -> PathBuilder {
            PathBuilder(self, systemAnchors: nil, extra: question.extra, effort: inspection.effort, at: question.date)
        }
        var ownFinder = finder()
        guard !certificate.isSelfIssued || ownFinder.isSigned(certificate, by: certificate) else { return .none }
        // Another serial number is no way around a revocation.
        let isRevoked = originals.contains { original in
            var finder = finder()
            return finder.paths(from: original).contains {
                inspection.revocation(of: $0, isPinned: true)?.status == .revoked
            }
        }
        return isRevoked ? .none : .key
    }
}
