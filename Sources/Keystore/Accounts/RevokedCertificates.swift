public import CMS
public import Foundation
import GRDB

/// Which of some certificates of ours are known to have been revoked, by the lists and answers at hand. That nothing is
/// known of one is no reason against it: whoever reads the mail decides.
public struct RevokedCertificates: Sendable, Equatable {
    private let fingerprints: Set<Fingerprint>

    /// None that anybody knows of.
    public init() { fingerprints = [] }

    /// - Parameter terms: whether anybody looks, and lists at hand beside those of the store.
    init(among certificates: [Certificate], at time: Date, under terms: TrustTerms, in database: Database) throws {
        guard terms.revocation != .off, !certificates.isEmpty else {
            fingerprints = []
            return
        }
        let trust = try TrustStore(judging: certificates, systemAnchors: false, in: database).under(terms)
        let hasEvidence =
            !trust.certificateLists.isEmpty || !trust.responses.isEmpty || !terms.certificateLists.isEmpty
        // As a rule there is nothing to judge by, and nobody waits for a verdict.
        let revoked = certificates.filter {
            hasEvidence && trust.judge($0, purpose: .signing, at: time).revocation?.status == .revoked
        }
        fingerprints = Set(revoked.map(\.fingerprint))
    }

    public func contains(_ certificate: Certificate) -> Bool { fingerprints.contains(certificate.fingerprint) }
}

extension AccountStore {
    /// Which of `certificates` are known to have been revoked.
    ///
    /// - Parameter terms: whether anybody looks, and lists at hand beside those of the store.
    public func revoked(
        among certificates: [Certificate],
        at time: Date,
        under terms: TrustTerms = TrustTerms()
    ) async throws(KeystoreError) -> RevokedCertificates {
        try await database.read { try RevokedCertificates(among: certificates, at: time, under: terms, in: $0) }
    }
}
