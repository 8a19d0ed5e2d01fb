import PKIX

/// Revocation lists of the store, and what is said of those that cannot be read.
struct StoredLists: Sendable {
    /// By fingerprint.
    private(set) var readable: [CertificateList] = []
    /// A sentence, if there are lists that cannot be read: then nothing is known to be good.
    var unreadable: [String] { hasUnreadable ? ["a revocation list in the store cannot be read"] : [] }

    private var hasUnreadable = false

    /// The lists whose issuers have one of the `matchingKey`s `issuers`.
    init(by issuers: Set<[UInt8]>, in database: SQLDatabase) throws {
        for issuer in issuers.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let cost = { (lists: StoredLists) in lists.readable.reduce(0) { $0 + 2 * $1.der.count } }
            let lists = try database.remembered(.revocationLists, [issuer], cost: cost) {
                try StoredLists(database.rows("\(Self.select) WHERE issuer_key = ? ORDER BY fingerprint", [issuer]))
            }
            readable += lists.readable
            hasUnreadable = hasUnreadable || lists.hasUnreadable
        }
    }

    /// All lists.
    init(whole database: SQLDatabase) throws { try self.init(database.rows("\(Self.select) ORDER BY fingerprint")) }

    private static let select = "SELECT der, fetched FROM crl"

    /// - Throws: for an imported list that cannot be read. Fetched ones are left out: gateways of a shared store write those, and one of
    ///   them must not stop the others.
    private init(_ rows: [SQLRow]) throws {
        for row in rows {
            do { readable.append(try CertificateList(der: row.value("der"))) } catch {
                guard try row.value("fetched") as Bool else { throw error }
                hasUnreadable = true
            }
        }
    }
}
