package import Foundation
import PKIX

extension Store {
    /// Removes data that was fetched or came with mail and is no longer needed: expired OCSP responses, expired
    /// revocation lists that a list from the same service replaces, and CA certificates that no chain of the store's
    /// certificates uses.
    ///
    /// Imported data is never removed. An expired list without a successor stays: it may be the only evidence that a
    /// certificate was revoked.
    ///
    /// - Returns: one finding for each kind of removed data.
    package func tidy(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.write { database in
            let remains = try FetchedRemains(at: time, in: database)
            try remains.remove(from: database)
            return remains.findings
        }
    }

    /// What `tidy` would remove, as findings. Changes nothing.
    package func untidied(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.read { try FetchedRemains(at: time, in: $0).findings }
    }
}

/// Fetched or learned data that is no longer needed.
private struct FetchedRemains {
    /// How much clocks may differ, in seconds.
    private static let tolerance = 300.0

    private var answers: [[UInt8]] = []
    private var lists: [[UInt8]] = []
    private var authorities: [Int64] = []

    init(at time: Date, in database: SQLDatabase) throws {
        let end = time.addingTimeInterval(-Self.tolerance)
        answers = try database.values(
            "SELECT certificate FROM ocsp_response WHERE until < ?",
            [end.seconds],
            as: [UInt8].self
        )
        lists = try Self.lists(endedBefore: end, in: database)
        authorities = try Self.unneededAuthorities(in: database)
    }

    var findings: [StoreFinding] {
        [
            (answers.count, "answers of responders that ended"),
            (lists.count, "fetched revocation lists that ended and have successors"),
            (authorities.count, "authorities from mail that no certificate here leads to"),
        ].filter { $0.0 > 0 }.map { StoreFinding(.ended, .note, text: "\($0.1): \($0.0)") }
    }

    func remove(from database: SQLDatabase) throws {
        for answer in answers {
            try database.execute("DELETE FROM ocsp_response WHERE certificate = ?", [answer], isCounted: false)
        }
        for list in lists { try database.execute("DELETE FROM crl WHERE fingerprint = ?", [list]) }
        for authority in authorities {
            try database.execute("DELETE FROM intermediate WHERE certificate = ?", [authority])
        }
        try CertificateRecord.removeUnused(authorities, from: database)
    }

    /// The fetched lists that expired before `end` and that another fetched list supersedes. Imported lists are not
    /// considered, because their signatures were not verified.
    private static func lists(endedBefore end: Date, in database: SQLDatabase) throws -> [[UInt8]] {
        let issuers = try database.values(
            "SELECT issuer_key FROM crl WHERE fetched <> 0 GROUP BY issuer_key HAVING count(*) > 1",
            as: [UInt8].self
        )
        return try issuers.flatMap { issuer in
            let all = try database.values(
                "SELECT der FROM crl WHERE fetched <> 0 AND issuer_key = ?",
                [issuer],
                as: [UInt8].self
            ).compactMap { try? CertificateList(der: $0) }
            return all.filter { list in
                (list.nextUpdate ?? .distantFuture) < end && all.contains { $0 != list && $0.supersedes(list, at: end) }
            }.map { $0.fingerprint.bytes }
        }
    }

    private static func unneededAuthorities(in database: SQLDatabase) throws -> [Int64] {
        var learned = try database.rows(
            "SELECT id, der, fingerprint FROM intermediate JOIN certificate ON certificate = id WHERE learned <> 0"
        ).compactMap { row in
            let id: Int64 = try row.value("id")
            return (try? row.certificate()).map { (id: id, certificate: $0) }
        }
        guard !learned.isEmpty else { return [] }
        // These names are read from columns, so that one unreadable certificate does not prevent tidying the others.
        var names = try Set(
            database.values(
                """
                SELECT DISTINCT issuer_key FROM certificate
                WHERE id NOT IN (SELECT certificate FROM intermediate WHERE learned <> 0)
                    OR id IN (SELECT certificate FROM anchor UNION SELECT certificate FROM recipient)
                """,
                as: [UInt8].self
            )
        )
        // If a CA certificate is needed, so is that of its issuer.
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
