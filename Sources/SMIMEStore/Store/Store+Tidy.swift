package import Foundation
import GRDB
import PKIX

extension Store {
    /// Removes data that was fetched or came with mail and is no longer of use: expired answers of responders, expired
    /// revocation lists with a successor from the same service, and authorities that no certificate of the store leads
    /// to.
    ///
    /// Imported data is never removed. An expired list without a successor stays: only it may show that a certificate
    /// was revoked.
    ///
    /// - Returns: one finding for each kind of removed data.
    package func tidy(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.write { database in
            let remains = try FetchedRemains(at: time, in: database)
            try remains.remove(from: database)
            return remains.findings
        }
    }

    /// What `tidy` would remove. Changes nothing.
    package func untidied(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.read { try FetchedRemains(at: time, in: $0).findings }
    }
}

/// Fetched or learned data that is no longer of use.
private struct FetchedRemains {
    /// How far clocks may be apart, in seconds.
    private static let tolerance = 300.0

    private var answers: [Data] = []
    private var lists: [Data] = []
    private var authorities: [Int64] = []

    init(at time: Date, in database: Database) throws {
        let end = time.addingTimeInterval(-Self.tolerance)
        answers = try Data.fetchAll(
            database,
            sql: "SELECT certificate FROM ocsp_response WHERE until < ?",
            arguments: [end.seconds]
        )
        lists = try Self.lists(endedBefore: end, in: database)
        authorities = try Self.unneededAuthorities(in: database)
    }

    var findings: [StoreFinding] {
        [
            (answers.count, "answers of responders that ended"),
            (lists.count, "fetched revocation lists that ended and have successors"),
            (authorities.count, "authorities from mail that no certificate here leads to"),
        ].filter { $0.0 > 0 }.map { StoreFinding(.ended, .note, "\($0.1): \($0.0)") }
    }

    func remove(from database: Database) throws {
        for answer in answers {
            try database.execute(sql: "DELETE FROM ocsp_response WHERE certificate = ?", arguments: [answer])
        }
        for list in lists { try database.execute(sql: "DELETE FROM crl WHERE fingerprint = ?", arguments: [list]) }
        for authority in authorities {
            try database.execute(sql: "DELETE FROM intermediate WHERE certificate = ?", arguments: [authority])
        }
        try CertificateRecord.removeUnused(authorities, from: database)
    }

    /// Only fetched lists take the place of one: their signatures were checked.
    private static func lists(endedBefore end: Date, in database: Database) throws -> [Data] {
        let issuers = try Data.fetchAll(
            database,
            sql: "SELECT issuer_key FROM crl WHERE fetched GROUP BY issuer_key HAVING count(*) > 1"
        )
        return try issuers.flatMap { issuer in
            let all = try Data.fetchAll(
                database.cachedStatement("SELECT der FROM crl WHERE fetched AND issuer_key = ?"),
                arguments: [issuer]
            ).compactMap { try? CertificateList(der: [UInt8]($0)) }
            return all.filter { list in
                (list.nextUpdate ?? .distantFuture) < end && all.contains { $0 != list && $0.supersedes(list, at: end) }
            }.map { Data($0.fingerprint.bytes) }
        }
    }

    private static func unneededAuthorities(in database: Database) throws -> [Int64] {
        var learned = try Row.fetchAll(
            database,
            sql: "SELECT id, der FROM intermediate JOIN certificate ON certificate = id WHERE learned"
        ).compactMap { row in
            let id: Int64 = try row.value("id")
            return (try? row.certificate()).map { (id: id, certificate: $0) }
        }
        guard !learned.isEmpty else { return [] }
        // One certificate of each issuer suffices to get the issuer's name.
        var names = try Set(
            Row.fetchAll(
                database,
                sql: """
                    SELECT der, min(id) FROM certificate WHERE id NOT IN (SELECT certificate FROM intermediate WHERE learned)
                        OR id IN (SELECT certificate FROM anchor UNION SELECT certificate FROM recipient) GROUP BY issuer
                    """
            ).map { try $0.certificate().issuer.matchingKey }
        )
        // An authority that is needed needs the one above it.
        var isGrowing = true
        while isGrowing {
            let needed = try learned.filter { names.contains(try $0.certificate.subject.matchingKey) }
            isGrowing = !needed.isEmpty
            for authority in needed { names.insert(try authority.certificate.issuer.matchingKey) }
            learned.removeAll { authority in needed.contains { $0.id == authority.id } }
        }
        return learned.map(\.id)
    }
}
