import PKIX

/// The readable revocation lists of the store, and a reason if the store also has unreadable ones.
struct StoredLists: Sendable {
    /// The lists that can be read, in the order of their fingerprints.
    private(set) var readable: [CertificateList] = []
    /// One sentence if some lists cannot be read; otherwise empty. While a list is unreadable, no certificate is known to be
    /// good.
    var unreadable: [String] { hasUnreadable ? ["a revocation list in the store cannot be read"] : [] }

    /// The keys that signed fetched lists, by the lists' fingerprints.
    private(set) var signers: [Fingerprint: PublicKeyDigest] = [:]

    private var hasUnreadable = false

    /// The lists of issuers whose `matchingKey` is in `issuers`.
    init(by issuers: Set<[UInt8]>, in database: SQLDatabase) throws {
        for issuer in issuers.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let cost = { (lists: StoredLists) in lists.readable.reduce(0) { $0 + 2 * $1.der.count } }
            let lists = try database.cached(.revocationLists, [issuer], cost: cost) {
                try StoredLists(database.rows("\(Self.select) WHERE issuer_key = ? ORDER BY fingerprint", [issuer]))
            }
            readable += lists.readable
            signers.merge(lists.signers) { $1 }
            hasUnreadable = hasUnreadable || lists.hasUnreadable
        }
    }

    /// All lists of the store.
    init(whole database: SQLDatabase) throws { try self.init(database.rows("\(Self.select) ORDER BY fingerprint")) }

    private static let select = "SELECT der, fetched, signer_key FROM crl"

    /// - Throws: if an imported list cannot be read. Unreadable fetched lists are only noted: a gateway of a shared store
    ///   can write them, and must not be able to make other checks fail.
    private init(_ rows: [SQLRow]) throws {
        for row in rows {
            let isFetched: Bool = try row.value("fetched")
            do {
                let list = try CertificateList(der: row.value("der"))
                readable.append(list)
                let key = isFetched ? try row.optional("signer_key") as [UInt8]? : nil
                signers[list.fingerprint] = key.flatMap(PublicKeyDigest.init)
            } catch {
                guard isFetched else { throw error }
                hasUnreadable = true
            }
        }
    }
}

extension TrustStore {
    /// Sets the revocation lists, and what is known of them.
    mutating func use(_ lists: StoredLists) {
        (certificateLists, listSigners, unreadableLists) = (lists.readable, lists.signers, lists.unreadable)
    }
}
