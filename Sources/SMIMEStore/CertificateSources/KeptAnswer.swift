import Foundation
import PKIX

/// A remote source's answer about an address, cached in the table `lookup_answer`.
struct KeptAnswer: Sendable {
    let address: AddressScope
    /// When the source was queried.
    let time: Date
    /// When the answer expires.
    let until: Date
    /// All certificates that were found, including those of CAs; empty if the source has none.
    let certificates: [Certificate]
    /// The place of the certificates in the source, such as a URL.
    let detail: String
    /// Whether the source should be queried again. If there is no time for it, these certificates are used nevertheless.
    var isExpired = false

    /// How old an expired answer with certificates may be, in seconds. Mail to many people may need several attempts, over
    /// some days, until each recipient has an answer. Resolvers use expired records for one to three days, too (RFC 8767).
    private static let maximumAge = 172_800
    /// How many expired answers are kept. Without this limit the table could contain all addresses of two days.
    private static let maximumExpired = 1000
    /// The maximum size of the certificates in a cached answer, in bytes, and of the detail, in characters.
    private static let maximumCount = 1 << 18
    private static let maximumDetail = 4096

    /// The cached answers of `source` about `addresses` at `time`, at most one for each address. Those with certificates may
    /// have expired. An expired answer without certificates is not used: mail would be sent in clear.
    ///
    /// Another gateway with access to the store could write other rows than this program does: rows that are too big are
    /// ignored, and rows with a longer lifetime than `limits` permit count as expired when the permitted lifetime is over.
    static func answers(
        of source: String,
        about addresses: [AddressScope],
        at time: Date,
        _ limits: LookupLimits,
        in database: SQLDatabase
    ) throws -> [KeptAnswer] {
        try addresses.compactMap { address in
            let statement = """
                SELECT time, until, certificates, detail FROM lookup_answer
                WHERE source = ? AND address_key = ? AND time <= ? AND outage IS NULL
                    AND (until > ? AND (length(certificates) = 0 AND time > ? OR length(certificates) > 0 AND time > ?)
                        OR length(certificates) > 0 AND time > ?)
                    AND length(certificates) <= ? AND length(detail) <= ?
                """
            let earliest = time.addingTimeInterval(-limits.retention.timeInterval).seconds
            let arguments: SQLArguments = [
                source, address.key, time.seconds + tolerance, time.seconds,
                time.addingTimeInterval(-limits.retentionOfNone.timeInterval).seconds, earliest,
                time.seconds - maximumAge, maximumCount, maximumDetail,
            ]
            return try database.row(statement, arguments).flatMap { row in
                // An unreadable answer is ignored, so the source is queried again.
                guard let certificates = try? certificates(row.value("certificates")) else { return nil }
                var answer = KeptAnswer(
                    address: address,
                    time: try row.date("time"),
                    until: try row.date("until"),
                    certificates: certificates,
                    detail: try row.value("detail")
                )
                let isOver = answer.until.seconds <= time.seconds || answer.time.seconds <= earliest
                answer.isExpired = isOver && !certificates.isEmpty
                return answer
            }
        }
    }

    /// How much the clocks of hosts may differ, in seconds. If an answer's time is further in the future than this, the
    /// clock of the host that wrote it was wrong.
    private static let tolerance = 300

    private static func certificates(_ bytes: [UInt8]) throws -> [Certificate] {
        var certificates: [Certificate] = []
        var position = 0
        while position < bytes.count {
            let end = position + (try ElementExtent(of: bytes, at: position).count)
            certificates.append(try Certificate(der: Array(bytes[position..<end])))
            position = end
        }
        return certificates
    }

    /// Caches `answers` of `source`, and deletes answers of all sources that are not used any more.
    static func keep(
        _ answers: [KeptAnswer],
        of source: String,
        at time: Date,
        _ limits: LookupLimits,
        in database: SQLDatabase
    ) throws {
        for answer in answers {
            let bytes = answer.certificates.flatMap(\.der)
            guard bytes.count <= maximumCount, answer.detail.unicodeScalars.count <= maximumDetail else { continue }
            try database.execute(
                """
                INSERT INTO lookup_answer (source, address_key, time, until, certificates, detail)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (source, address_key) DO UPDATE SET time = excluded.time, until = excluded.until,
                    certificates = excluded.certificates, detail = excluded.detail, outage = NULL
                """,
                [
                    source, answer.address.key, answer.time.seconds, answer.until.seconds, bytes, answer.detail,
                ],
                isCounted: false
            )
        }
        try deleteUnused(at: time, limits, in: database)
    }

    /// Deletes answers that would expire later than `limits` permit, and expired answers that have no certificates or are
    /// older than `maximumAge`. Of the other expired answers, keeps those that expired last, up to `maximumExpired`.
    private static func deleteUnused(at time: Date, _ limits: LookupLimits, in database: SQLDatabase) throws {
        let last = time.addingTimeInterval(max(limits.retention, limits.retentionOfNone).timeInterval)
        try database.execute(
            "DELETE FROM lookup_answer WHERE until <= ? AND (length(certificates) = 0 OR time <= ?) OR until > ?",
            [time.seconds, time.seconds - maximumAge, last.seconds + tolerance],
            isCounted: false
        )
        try database.execute(
            """
            DELETE FROM lookup_answer WHERE until <= (
                SELECT until FROM lookup_answer WHERE until <= ? ORDER BY until DESC LIMIT 1 OFFSET \(maximumExpired)
            )
            """,
            [time.seconds],
            isCounted: false
        )
    }
}
