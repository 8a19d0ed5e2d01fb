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

    /// The maximum size of a cached answer, in bytes.
    private static let maximumCount = 1 << 18

    /// The cached answers of `source` about `addresses` that are valid at `time`, at most one for each address.
    static func answers(
        of source: String,
        about addresses: [AddressScope],
        at time: Date,
        in database: SQLDatabase
    ) throws -> [KeptAnswer] {
        try addresses.compactMap { address in
            let statement = """
                SELECT time, until, certificates, detail FROM lookup_answer
                WHERE source = ? AND address_key = ? AND until > ? AND time <= ? AND outage IS NULL
                """
            let arguments: SQLArguments = [source, address.key, time.seconds, time.seconds + tolerance]
            return try database.row(statement, arguments).flatMap { row in
                // An unreadable answer is ignored, so the source is queried again.
                guard let certificates = try? certificates(row.value("certificates")) else { return nil }
                return KeptAnswer(
                    address: address,
                    time: try row.date("time"),
                    until: try row.date("until"),
                    certificates: certificates,
                    detail: try row.value("detail")
                )
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

    /// Caches `answers` of `source`, and deletes expired answers of all sources.
    static func keep(_ answers: [KeptAnswer], of source: String, at time: Date, in database: SQLDatabase) throws {
        for answer in answers {
            let bytes = answer.certificates.flatMap(\.der)
            guard bytes.count <= maximumCount else { continue }
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
        try database.execute("DELETE FROM lookup_answer WHERE until <= ?", [time.seconds], isCounted: false)
    }
}
