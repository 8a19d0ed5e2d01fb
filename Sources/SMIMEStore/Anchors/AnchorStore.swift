package import Foundation
package import PKIX

/// The store's trust anchors, intermediate CA certificates, and revocation lists.
package struct AnchorStore: Sendable {
    /// A certificate that is trusted without a chain.
    package struct Anchor: Sendable {
        /// The trusted certificate, usually that of a CA.
        package let certificate: Certificate
        /// When the certificate became an anchor.
        package let added: Date
    }

    let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// The anchors of this store, in the order of their subjects. The system's anchors are not included.
    package func all() async throws(KeystoreError) -> [Anchor] {
        let anchors = try await database.read { database in
            try database.rows("SELECT der, fingerprint, added FROM anchor JOIN certificate ON id = certificate").map {
                Anchor(certificate: try $0.certificate(), added: try $0.date("added"))
            }
        }
        return anchors.map { ($0, $0.certificate.subject.description) }.sorted {
            ($0.1, $0.0.certificate.fingerprint) < ($1.1, $1.0.certificate.fingerprint)
        }.map(\.0)
    }

    /// Removes anchors, and deletes their certificates if nothing else refers to them. Removes all of `fingerprints` or
    /// none.
    ///
    /// - Returns: the certificates that are no anchors any more.
    /// - Throws: `.unknownCertificate` for the first fingerprint that belongs to no anchor.
    package func remove(_ fingerprints: [Fingerprint]) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            try fingerprints.map { fingerprint in
                let row = try database.row(
                    "SELECT id, der, fingerprint FROM anchor JOIN certificate ON id = certificate WHERE fingerprint = ?",
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

    /// The revocation lists of the store, imported and fetched, sorted by issuer, the newest first. Lists that cannot be
    /// read, as in a damaged store, are left out.
    package func revocationLists() async throws(KeystoreError) -> [CertificateList] {
        let lists = try await database.read { database in
            try database.values("SELECT der FROM crl ORDER BY issuer_key, fingerprint", as: [UInt8].self)
                .compactMap { try? CertificateList(der: $0) }
        }
        return lists.map { ($0, $0.issuer.description) }.sorted {
            ($0.1, $1.0.thisUpdate, $0.0.fingerprint) < ($1.1, $0.0.thisUpdate, $1.0.fingerprint)
        }.map(\.0)
    }

    /// Removes revocation lists from the store. Removes all of `fingerprints` or none.
    ///
    /// - Throws: `.unknownCertificate` for the first fingerprint of which the store has no list.
    package func removeRevocationLists(_ fingerprints: [Fingerprint]) async throws(KeystoreError) {
        try await database.write { database in
            for fingerprint in fingerprints {
                let count = try database.execute("DELETE FROM crl WHERE fingerprint = ?", [fingerprint.bytes])
                guard count > 0 else { throw KeystoreError.unknownCertificate(fingerprint) }
            }
        }
    }

    /// The revocation services (host and port) that failed to answer a request during the five minutes before `time`, with
    /// the time of the failure.
    package func silentServices(at time: Date) async throws(KeystoreError) -> [String: Date] {
        try await database.read { try OutageRecord.services(at: time.seconds, in: $0) }
    }

    /// The trust data for `certificates`: only the anchors, intermediates, revocation lists and OCSP responses that can
    /// be relevant for them, and users' decisions about their keys.
    ///
    /// - Parameter certificates: the leaf and all accompanying certificates.
    package func trust(
        judging certificates: [Certificate],
        systemAnchors: Bool
    ) async throws(KeystoreError) -> TrustStore {
        try await database.read { try TrustStore(judging: certificates, systemAnchors: systemAnchors, in: $0) }
    }

    /// The issuing CA certificates of `certificate` that the store knows, nearest first.
    ///
    /// - Parameter includingRoots: whether self-issued certificates are included. A signed message does not need them.
    package func chain(
        above certificate: Certificate,
        includingRoots: Bool = false
    ) async throws(KeystoreError) -> [Certificate] {
        let chain = try await database.read { try Authorities.issuers(of: certificate, in: $0) }
        return chain.filter { includingRoots || !$0.isSelfIssued }
    }
}

/// The end of a certificate's chain, as far as the store has its certificates.
package enum ChainEnd: Sendable {
    /// The chain ends with this self-issued certificate.
    case root(Certificate)
    /// The store has no certificate of the authority that issued this certificate.
    case missingIssuer(of: Certificate)

    /// The self-issued certificate; nil if the store does not have it.
    package var root: Certificate? {
        if case .root(let certificate) = self { certificate } else { nil }
    }
}

extension AnchorStore {
    /// The end of the chain of `certificate`; the certificate itself if it is self-issued.
    package func chainEnd(above certificate: Certificate) async throws(KeystoreError) -> ChainEnd {
        let authorities = try await chain(above: certificate, includingRoots: true)
        let last = IssuerSearch(among: authorities).issuers(of: certificate).last ?? certificate
        return last.isSelfIssued ? .root(last) : .missingIssuer(of: last)
    }
}
