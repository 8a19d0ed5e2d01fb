import Foundation
import PKIX

/// What a remote source answered about an address, in the table `lookup_answer`: a cache.
struct KeptAnswer: Sendable {
    let address: AddressScope
    /// When the source was asked.
    let time: Date
    /// Until when the answer is used.
    let until: Date
    /// Everything that was found, authorities included; empty for none.
    let certificates: [Certificate]
    /// The place in the source.
    let detail: String

    /// The longest answer that is kept, in bytes.
    private static let maximumCount = 1 << 18

    /// The answers of `source` about `addresses` that are used at `time`, each once.
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
                // The source is asked again for what cannot be read.
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

    /// How far clocks of hosts may be apart, in seconds: a time beyond that came from a wrong clock.
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

    /// Keeps `answers` of `source`, and deletes expired answers of all sources.
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
