import Foundation
import PKIX

/// Manual decisions about keys: the addresses for which each is pinned or distrusted, with any certificate.
struct KeyDecisions {
    /// The addresses and domains that each key was pinned or distrusted for.
    private(set) var scopes: [PublicKeyDigest: TrustStore.Scopes] = [:]
    /// The certificates that were pinned.
    private(set) var pinnedCertificates: Set<Certificate> = []

    /// The decisions about the keys of `certificates`.
    init(on certificates: [Certificate], in database: SQLDatabase) throws {
        let keys = Set(certificates.map(\.publicKeyDigest))
        let select = """
            SELECT address_key, trust, der FROM certificate CROSS JOIN recipient ON certificate.id = recipient.certificate
            WHERE public_key = ? AND certificate.form >= \(CertificateRecord.form) AND trust IN ('pinned', 'distrusted')
            """
        for key in keys {
            let rows = try database.remembered(.keyDecisions, [key.bytes], cost: { 4096 * $0.count }) {
                try database.rows(select, [key.bytes])
            }
            for row in rows { try add(row, for: key) }
        }
        // Records that are not migrated yet have no such digest. As a rule there are none.
        let hasOld = "SELECT EXISTS (SELECT 1 FROM certificate WHERE form < \(CertificateRecord.form))"
        let isOld = try database.remembered(.certificatesOfOldForm) { try database.value(hasOld, as: Bool.self) }
        guard isOld == true else { return }
        let old = """
            SELECT address_key, trust, der FROM recipient INDEXED BY recipient_decided
                JOIN certificate ON certificate.id = recipient.certificate
            WHERE trust IN ('pinned', 'distrusted') AND certificate.form < \(CertificateRecord.form)
            """
        for row in try database.rows(old) {
            guard let key = try? row.certificate().publicKeyDigest, keys.contains(key) else { continue }
            try add(row, for: key)
        }
    }

    private mutating func add(_ row: SQLRow, for key: PublicKeyDigest) throws {
        let address: String = try row.value("address_key")
        if try row.value("trust") as String == KnownRecipient.Trust.pinned.rawValue {
            scopes[key, default: .init()].pinned.insert(address)
            pinnedCertificates.insert(try row.certificate())
        } else {
            scopes[key, default: .init()].distrusted.insert(address)
        }
    }
}
