package import Foundation
package import PKIX

/// Trust anchors, the CA certificates between them and a leaf, and revocation lists.
package struct AnchorStore: Sendable {
    /// A certificate that is trusted by itself.
    package struct Anchor: Sendable {
        /// The trusted certificate, as a rule an authority's own.
        package let certificate: Certificate
        /// When it was made an anchor.
        package let added: Date
    }

    let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// The anchors of this store, by subject. The system's are not among them.
    package func all() async throws(KeystoreError) -> [Anchor] {
        let anchors = try await database.read { database in
            try database.rows("SELECT der, added FROM anchor JOIN certificate ON id = certificate").map {
                Anchor(certificate: try $0.certificate(), added: try $0.date("added"))
            }
        }
        return anchors.map { ($0, $0.certificate.subject.description) }.sorted {
            ($0.1, $0.0.certificate.fingerprint) < ($1.1, $1.0.certificate.fingerprint)
        }.map(\.0)
    }

    /// Removes anchors, and deletes their certificates if nothing else needs them: all or none.
    ///
    /// - Throws: `.unknownCertificate` for the first that is no anchor.
    package func remove(_ fingerprints: [Fingerprint]) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            try fingerprints.map { fingerprint in
                let row = try database.row(
                    "SELECT id, der FROM anchor JOIN certificate ON id = certificate WHERE fingerprint = ?",
                    [fingerprint.bytes]
                )
                guard let row else { throw KeystoreError.unknownCertificate(fingerprint) }
                let id: Int64 = try row.value("id")
                try database.execute("DELETE FROM anchor WHERE certificate = ?", [id])
                try CertificateRecord.removeUnused([id], from: database)
                return try row.certificate()
            }
        }
    }

    /// The revocation lists of the store, imported or fetched, by issuer, the newest first; those that cannot be read any
    /// more, as of a store that is damaged, are left out.
    package func revocationLists() async throws(KeystoreError) -> [CertificateList] {
        let lists = try await database.read { database in
            try database.values("SELECT der FROM crl ORDER BY issuer_key, fingerprint", as: [UInt8].self)
                .compactMap { try? CertificateList(der: $0) }
        }
        return lists.map { ($0, $0.issuer.description) }.sorted {
            ($0.1, $1.0.thisUpdate, $0.0.fingerprint) < ($1.1, $0.0.thisUpdate, $1.0.fingerprint)
        }.map(\.0)
    }

    /// Forgets revocation lists of the store. All or none.
    ///
    /// - Throws: `.unknownCertificate` for the first that it does not hold.
    package func removeRevocationLists(_ fingerprints: [Fingerprint]) async throws(KeystoreError) {
        try await database.write { database in
            for fingerprint in fingerprints {
                let count = try database.execute("DELETE FROM crl WHERE fingerprint = ?", [fingerprint.bytes])
                guard count > 0 else { throw KeystoreError.unknownCertificate(fingerprint) }
            }
        }
    }

    /// The services for questions about revocation, as host and port, that did not answer within the last five minutes, and
    /// when.
    package func silentServices(at time: Date) async throws(KeystoreError) -> [String: Date] {
        try await database.read { try OutageRecord.services(at: time.seconds, in: $0) }
    }

    /// The trust settings for `certificates`: only the anchors, intermediates and revocation lists that can matter to
    /// them, and which of `certificates` are pinned.
    ///
    /// - Parameter certificates: the leaf and all accompanying certificates.
    package func trust(
        judging certificates: [Certificate],
        systemAnchors: Bool
    ) async throws(KeystoreError) -> TrustStore {
        try await database.read { try TrustStore(judging: certificates, systemAnchors: systemAnchors, in: $0) }
    }

    /// The CA certificates above `certificate` that the store knows, nearest first.
    ///
    /// - Parameter includingRoots: whether self-issued ones are among them, which a signed message does not need.
    package func chain(
        above certificate: Certificate,
        includingRoots: Bool = false
    ) async throws(KeystoreError) -> [Certificate] {
        let authorities = try await database.read { try Authorities(above: [certificate], in: $0) }
        return authorities.all.filter { includingRoots || !$0.isSelfIssued }
    }
}
