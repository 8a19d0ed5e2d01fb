import Foundation
import PKIX

/// The CA certificates that may be in chains of given certificates, looked up by name, level by level.
///
/// The depth and the number are limited, so that hundreds of CAs with the same name do not slow down a check. If many CAs
/// have one name, only some are used: those whose keys signed a certificate below them, and a few others, anchors and the
/// oldest in the store first. Anyone can make a CA certificate with the name of another CA, and a user may import it
/// along with other certificates.
struct Authorities: Sendable {
    private static let maximumDepth = 8
    private static let maximumCount = 256
    /// The maximum number of certificates with one name that are read.
    private static let maximumRead = 1000
    /// The maximum number of certificates with one name that are used although no signature was verified with their keys.
    private static let maximumUnverified = 8
    /// The maximum number of used certificates with one name whose keys signed a certificate below them.
    private static let maximumVerified = 32

    /// All CA certificates found, nearest first.
    private(set) var all: [Certificate] = []
    private(set) var anchors: Set<Certificate> = []
    /// Whether no authority was left out because there were too many. If false, another certificate with the same issuer
    /// may need an authority that was left out here. The limit of the depth does not count.
    private(set) var isComplete = true
    /// The `matchingKey`s of the names of all issuers, including issuers of revocation lists. Revocation lists of these
    /// issuers are relevant.
    private(set) var issuers: Set<[UInt8]> = []

    init(above certificates: [Certificate], in database: SQLDatabase) throws {
        let names = certificates.map(\.fingerprint.bytes)
        self = try database.cached(.authorities, SQLArguments(names), cost: { $0.all.encodedCount }) {
            try Authorities(lookingAbove: certificates, in: database)
        }
    }

    /// The certificates in chains above `certificate`, the nearest first. The signatures of the chains are verified. If there
    /// is a chain to an anchor, other chains are left out; otherwise there is one chain, as in `IssuerSearch.issuers(of:)`.
    static func issuers(of certificate: Certificate, in database: SQLDatabase) throws -> [Certificate] {
        let authorities = try Authorities(above: [certificate], in: database)
        return IssuerSearch(among: authorities.all).issuers(of: certificate, leadingTo: authorities.anchors)
    }

    private init(lookingAbove certificates: [Certificate], in database: SQLDatabase) throws {
        guard try !look(above: certificates, verifies: false, in: database) else { return }
        isComplete = false
        // There are more than the limits permit, so those whose keys signed a certificate below them come first.
        (all, anchors) = ([], [])
        _ = try look(above: certificates, verifies: true, in: database)
        _ = try look(above: certificates, verifies: false, in: database)
    }

    /// Adds the authorities above `certificates`.
    ///
    /// - Parameter verifies: whether only authorities are added whose keys signed a certificate below them.
    /// - Returns: false if an authority with the name of an issuer was left out. The limit of the depth does not count.
    private mutating func look(
        above certificates: [Certificate],
        verifies: Bool,
        in database: SQLDatabase
    ) throws -> Bool {
        var (level, isComplete) = (certificates, true)
        var (seen, visited) = (Set(all.map(\.fingerprint)), Set<Fingerprint>())
        var done: Set<[UInt8]> = []
        for _ in 0..<Self.maximumDepth where !level.isEmpty {
            // Another CA may issue the revocation lists for an issuer's certificates (RFC 5280 §5).
            let names = try Set(level.flatMap { [$0.issuer] + $0.revocationListIssuers }.map { try $0.matchingKey })
                .subtracting(verifies ? [] : done)
            done.formUnion(names)
            issuers.formUnion(names)
            let below = level
            level = []
            for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let found = try Self.authorities(named: name, in: database)
                let used =
                    verifies ? Self.issuers(of: below, among: found) : Array(found.prefix(Self.maximumUnverified))
                isComplete = isComplete && used.count == found.count
                for (certificate, isAnchor) in used where visited.insert(certificate.fingerprint).inserted {
                    guard all.count < Self.maximumCount || seen.contains(certificate.fingerprint) else { return false }
                    level.append(certificate)
                    guard seen.insert(certificate.fingerprint).inserted else { continue }
                    all.append(certificate)
                    if isAnchor { anchors.insert(certificate) }
                }
            }
        }
        return isComplete
    }

    private typealias Authority = (certificate: Certificate, isAnchor: Bool)

    /// The authorities in `found` whose keys signed one of `certificates`. All of `found` have one name. First come those
    /// that an authority key identifier (RFC 5280 §4.2.1.1) names. In both groups, keys that verify fast come first.
    private static func issuers(of certificates: [Certificate], among found: [Authority]) -> [Authority] {
        let named = Set(certificates.compactMap(\.authorityKeyIdentifier))
        func isNamed(_ item: Authority) -> Bool { item.certificate.subjectKeyIdentifier.map(named.contains) == true }
        // The keys that verify fastest come first, so that many slow ones do not use up the budget.
        func byCost(_ items: [Authority]) -> [Authority] {
            items.enumerated().map { (cost: $1.certificate.verificationCost, place: $0, item: $1) }
                .sorted { ($0.cost, $0.place) < ($1.cost, $1.place) }.map(\.item)
        }
        let ordered = byCost(found.filter(isNamed)) + byCost(found.reversed().filter { !isNamed($0) })
        let search = IssuerSearch(among: ordered.map(\.certificate))
        let issuers = Set(certificates.flatMap(search.allIssuers).map(\.fingerprint))
        return Array(ordered.filter { issuers.contains($0.certificate.fingerprint) }.prefix(maximumVerified))
    }

    private static func authorities(named name: [UInt8], in database: SQLDatabase) throws -> [Authority] {
        try rows(named: name, in: database).compactMap { row in
            try row.authority().map { ($0, isAnchor: try row.value("is_anchor") as Bool) }
        }
    }

    /// The store's authorities with the name whose `matchingKey` is `name`.
    static func certificates(named name: [UInt8], in database: SQLDatabase) throws -> [Certificate] {
        try authorities(named: name, in: database).map(\.certificate)
    }

    private static func rows(named name: [UInt8], in database: SQLDatabase) throws -> [SQLRow] {
        try database.rows(
            """
            SELECT der, fingerprint, anchor.certificate IS NOT NULL AS is_anchor,
                anchor.certificate IS NULL AND learned <> 0 AS is_learned FROM certificate
            LEFT JOIN anchor ON anchor.certificate = id LEFT JOIN intermediate ON intermediate.certificate = id
            WHERE subject_key = ? AND (anchor.certificate IS NOT NULL OR intermediate.certificate IS NOT NULL)
            ORDER BY is_anchor DESC, id LIMIT \(maximumRead)
            """,
            [name]
        )
    }
}

extension TrustStore {
    /// The part of the store's trust data that can be relevant for `certificates`.
    init(judging certificates: [Certificate], systemAnchors: Bool, in database: SQLDatabase) throws {
        let decisions = try KeyDecisions(on: certificates, in: database)
        let judged = certificates + decisions.pinnedCertificates
        let authorities = try Authorities(above: judged, in: database)
        let lists = try StoredLists(by: authorities.issuers, in: database)
        self.init(
            anchors: authorities.all.filter(authorities.anchors.contains)
                + (try Self.ownAnchors(among: certificates, in: database)),
            intermediates: authorities.all.filter { !authorities.anchors.contains($0) },
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
        use(lists)
        responses = try ResponseRecord.responses(about: judged + authorities.all, in: database)
        scopes = decisions.scopes
        pinned = Set(scopes.filter { !$0.value.pinned.isEmpty }.keys)
        distrusted = Set(scopes.filter { !$0.value.distrusted.isEmpty }.keys)
        pinnedCertificates = decisions.pinnedCertificates
    }

    /// The certificates among `certificates` that are anchors.
    private static func ownAnchors(among certificates: [Certificate], in database: SQLDatabase) throws -> [Certificate]
    {
        let select = "SELECT EXISTS (SELECT 1 FROM anchor JOIN certificate ON id = certificate WHERE fingerprint = ?)"
        return try certificates.filter { certificate in
            let name: SQLArguments = [certificate.fingerprint.bytes]
            return try database.cached(.anchor, name) { try database.value(select, name, as: Bool.self) } ?? false
        }
    }
}

extension SQLRow {
    /// The CA certificate in column `der`. Nil if it cannot be read and `is_learned` is set: mail or a gateway of a shared
    /// store added the certificate, and must not be able to make other checks fail.
    func authority() throws -> Certificate? {
        do { return try certificate() } catch {
            guard try optional("is_learned") as Bool? == true else { throw error }
            return nil
        }
    }
}

extension [Certificate] {
    /// The total length of all encodings in bytes.
    var encodedCount: Int { reduce(0) { $0 + $1.der.count } }
}
