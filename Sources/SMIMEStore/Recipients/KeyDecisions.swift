import Foundation
import PKIX

/// Users' decisions about keys: the addresses for which each key is pinned or distrusted. A decision applies to all
/// certificates for the key.
struct KeyDecisions {
    /// The addresses and domains for which each key was pinned or distrusted.
    private(set) var scopes: [PublicKeyDigest: TrustStore.Scopes] = [:]
    /// The certificates that were pinned.
    private(set) var pinnedCertificates: Set<Certificate> = []

    /// The decisions about the keys of `certificates`.
    init(on certificates: [Certificate], in database: SQLDatabase) throws {
        let keys = Set(certificates.map(\.publicKeyDigest))
        let select = """
            SELECT address_key, trust, der, fingerprint FROM certificate CROSS JOIN recipient
            WHERE certificate.id = recipient.certificate AND public_key = ? AND trust IN ('pinned', 'distrusted')
            """
        for key in keys {
            let rows = try database.cached(.keyDecisions, [key.bytes], cost: { 4096 * $0.count }) {
                try database.rows(select, [key.bytes])
            }
            for row in rows { try add(row, for: key) }
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
