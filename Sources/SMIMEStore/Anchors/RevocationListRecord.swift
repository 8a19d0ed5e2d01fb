import Foundation
package import PKIX

/// Revocation lists, in the table `crl`.
enum RevocationListRecord {
    /// How long a list still counts as current after its end, in seconds. This allows for differences between clocks.
    private static let tolerance = 300.0
    /// The maximum number of lists of one issuer, and of issuers, that one call of `tidy` examines.
    private static let maximumCount = 32

    /// Stores `list`.
    ///
    /// - Parameter time: seconds since 1970.
    /// - Returns: whether the list was not stored before.
    @discardableResult
    static func insert(
        _ list: CertificateList,
        isFetched: Bool = false,
        at time: Int,
        into database: SQLDatabase
    ) throws -> Bool {
        let (fingerprint, issuer) = (list.fingerprint.bytes, try list.issuer.matchingKey)
        // A row with this fingerprint but other content, written by another host, would hide the list.
        try database.execute(
            "DELETE FROM crl WHERE fingerprint = ? AND (issuer_key <> ? OR der <> ?)",
            [fingerprint, issuer, list.der]
        )
        let count = try database.execute(
            """
            INSERT INTO crl (fingerprint, issuer_key, der, added, fetched) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [fingerprint, issuer, list.der, time, isFetched]
        )
        return count > 0
    }

    /// Deletes expired fetched lists that one of `items` replaces: both are signed with the same key. The caller has verified
    /// that the items are signed by their issuers.
    ///
    /// An expired list without a successor stays: it may be the only evidence that a certificate was revoked. Another
    /// authority with the issuer's name cannot replace it.
    ///
    /// - Parameter time: seconds since 1970.
    static func tidy(after items: [FetchedList], at time: Int, in database: SQLDatabase) throws {
        let end = Date(timeIntervalSince1970: Double(time) - tolerance)
        for item in items.prefix(maximumCount) {
            let list = item.list
            let others = try database.values(
                "SELECT der FROM crl WHERE fetched <> 0 AND issuer_key = ? ORDER BY added LIMIT \(maximumCount)",
                [list.issuer.matchingKey],
                as: [UInt8].self
            )
            for der in others {
                // `store check` reports lists that cannot be read.
                guard let other = try? CertificateList(der: der), let last = other.nextUpdate, last < end,
                    list.supersedes(other, at: end), other.isSigned(by: item.issuer)
                else { continue }
                try database.execute("DELETE FROM crl WHERE fingerprint = ?", [other.fingerprint.bytes])
            }
        }
    }
}

/// A revocation list from a service that a certificate names.
package struct FetchedList: Sendable {
    package let list: CertificateList
    /// The certificate with whose key the list is signed; this has been verified.
    package let issuer: Certificate

    package init(list: CertificateList, issuer: Certificate) { (self.list, self.issuer) = (list, issuer) }
}

/// OCSP responses, in the table `ocsp_response`: one response for each certificate, until it expires. A permanent revocation
/// never expires.
enum ResponseRecord {
    /// How long an expired answer stays stored, in seconds. This allows for differences between clocks.
    static let tolerance = 300

    /// The stored answers about `certificates`, whoever issued them.
    static func responses(
        about certificates: [Certificate],
        in database: SQLDatabase
    ) throws -> [OCSPResponse.Subject: OCSPResponse] {
        // This query is faster than computing the name digests of all certificates.
        let any = "SELECT EXISTS (SELECT 1 FROM ocsp_response)"
        let hasAny = try database.cached(.hasResponses) { try database.value(any, as: Bool.self) }
        guard hasAny == true else { return [:] }
        return try certificates.reduce(into: [:]) { found, certificate in
            let range = try OCSPResponse.Subject.range(of: certificate)
            let stored = try database.cached(.response, [range.after], cost: { $0.reduce(0) { $0 + $1.1.der.count } }) {
                try responses("WHERE certificate >= ? AND certificate < ?", [range.after, range.before], in: database)
            }
            found.merge(stored) { one, _ in one }
        }
    }

    /// All stored answers.
    static func all(in database: SQLDatabase) throws -> [OCSPResponse.Subject: OCSPResponse] {
        Dictionary(try responses("", [], in: database)) { one, _ in one }
    }

    private static func responses(
        _ condition: String,
        _ arguments: SQLArguments,
        in database: SQLDatabase
    ) throws -> [(OCSPResponse.Subject, OCSPResponse)] {
        try database.rows("SELECT certificate, der FROM ocsp_response \(condition)", arguments).map { row in
            (OCSPResponse.Subject(bytes: try row.value("certificate")), OCSPResponse(der: try row.value("der")))
        }
    }
}

/// The services that did not answer in time, in the table `service_outage`, whose column `url` has the host and port. A
/// record is used for a few minutes.
enum OutageRecord {
    /// How long a record is used, in seconds.
    static let memory = 300
    /// The maximum number of records.
    private static let maximumCount = 256
    /// The maximum length of a recorded service name, in bytes.
    private static let maximumName = 2048

    private static let table = "service_outage"

    /// Records that `services` did not answer. Deletes old records, and the records of services that `answered`.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ services: [String], answered: [String], at time: Int, into database: SQLDatabase) throws {
        guard !services.isEmpty || !answered.isEmpty else { return }
        for service in services.prefix(maximumCount) where service.utf8.count <= maximumName {
            try database.execute(
                "INSERT INTO \(table) (url, time) VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET time = excluded.time",
                [service, time],
                isCounted: false
            )
        }
        for service in answered {
            try database.execute("DELETE FROM \(table) WHERE url = ?", [service], isCounted: false)
        }
        // A time in the future was recorded with a wrong clock.
        try database.execute(
            """
            DELETE FROM \(table) WHERE time <= ? OR time > ?
                OR url NOT IN (SELECT url FROM \(table) ORDER BY time DESC LIMIT \(maximumCount))
            """,
            [time - memory, time],
            isCounted: false
        )
    }

    /// The services that did not answer within the last minutes before `time`, with the time of the failure.
    static func services(at time: Int, in database: SQLDatabase) throws -> [String: Date] {
        let rows = try database.rows(
            "SELECT url, time FROM \(table) WHERE time > ? AND time <= ? LIMIT \(maximumCount)",
            [time - memory, time]
        )
        return try rows.reduce(into: [:]) { $0[try $1.value("url") as String] = try $1.date("time") }
    }
}

/// The readable revocation lists of the store, and a reason if the store also has unreadable ones.
struct StoredLists: Sendable {
    /// The lists that can be read, in the order of their fingerprints.
    private(set) var readable: [CertificateList] = []
    /// A sentence if some lists cannot be read, otherwise empty. While it is present, no certificate is known to be good.
    var unreadable: [String] { hasUnreadable ? ["a revocation list in the store cannot be read"] : [] }

    private var hasUnreadable = false

    /// The lists of issuers whose `matchingKey` is in `issuers`.
    init(by issuers: Set<[UInt8]>, in database: SQLDatabase) throws {
        for issuer in issuers.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let cost = { (lists: StoredLists) in lists.readable.reduce(0) { $0 + 2 * $1.der.count } }
            let lists = try database.cached(.revocationLists, [issuer], cost: cost) {
                try StoredLists(database.rows("\(Self.select) WHERE issuer_key = ? ORDER BY fingerprint", [issuer]))
            }
            readable += lists.readable
            hasUnreadable = hasUnreadable || lists.hasUnreadable
        }
    }

    /// All lists of the store.
    init(whole database: SQLDatabase) throws { try self.init(database.rows("\(Self.select) ORDER BY fingerprint")) }

    private static let select = "SELECT der, fetched FROM crl"

    /// - Throws: if an imported list cannot be read. Unreadable fetched lists are only noted: a gateway of a shared store
    ///   can write them, and must not be able to make other checks fail.
    private init(_ rows: [SQLRow]) throws {
        for row in rows {
            do { readable.append(try CertificateList(der: row.value("der"))) } catch {
                guard try row.value("fetched") as Bool else { throw error }
                hasUnreadable = true
            }
        }
    }
}
