import Foundation
package import PKIX

extension TrustStore {
    /// All trust data of the store, for validating any number of certificates without further queries.
    init(whole database: SQLDatabase, systemAnchors: Bool) throws {
        func certificates(_ table: String) throws -> [Certificate] {
            let isLearned = table == "intermediate" ? "learned <> 0" : "FALSE"
            return try database.rows(
                "SELECT der, fingerprint, \(isLearned) AS is_learned FROM \(table) JOIN certificate ON id = certificate"
            ).compactMap { try $0.authority() }
        }
        let lists = try StoredLists(whole: database)
        let (anchors, intermediates) = (try certificates("anchor"), try certificates("intermediate"))
        self.init(
            anchors: anchors,
            intermediates: intermediates.filter { !anchors.contains($0) },
            certificateLists: lists.readable,
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
        unreadableLists = lists.unreadable
        let decided = try database.rows(
            """
            SELECT DISTINCT der, fingerprint FROM recipient JOIN certificate ON id = certificate WHERE trust IN ('pinned', 'distrusted')
            """
        ).map { try $0.certificate() }
        let decisions = try KeyDecisions(on: decided, in: database)
        responses = try ResponseRecord.all(in: database)
        scopes = decisions.scopes
        pinned = Set(scopes.filter { !$0.value.pinned.isEmpty }.keys)
        distrusted = Set(scopes.filter { !$0.value.distrusted.isEmpty }.keys)
        pinnedCertificates = decisions.pinnedCertificates
    }
}

extension AnchorStore {
    /// All trust data of the store, for validating any number of certificates without further queries.
    package func wholeTrust(systemAnchors: Bool) async throws(KeystoreError) -> TrustStore {
        try await database.read { try TrustStore(whole: $0, systemAnchors: systemAnchors) }
    }
}
