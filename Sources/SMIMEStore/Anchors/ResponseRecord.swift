import Foundation
import PKIX

/// OCSP responses, in the table `ocsp_response`: one response for each certificate, until it expires. A permanent revocation
/// never expires.
enum ResponseRecord {
    /// How long an expired response stays stored, in seconds. This allows for differences between clocks.
    static let tolerance = 300
    /// The maximum number of bytes of a stored response. Longer responses are used, but not stored, because a response about
    /// a permanent revocation would stay for ever.
    private static let maximumCount = 65536

    /// The stored responses about `certificates`, including responses about certificates that a CA with another key but the
    /// same name issued.
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
            let stored = try database.cached(.response, [range.first], cost: { $0.reduce(0) { $0 + $1.1.der.count } }) {
                try responses("WHERE certificate >= ? AND certificate < ?", [range.first, range.end], in: database)
            }
            found.merge(stored) { one, _ in one }
        }
    }

    /// All stored responses.
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

    /// Stores `items`. A newer response replaces an older one, but only a permanent revocation replaces a permanent
    /// revocation. Expired responses are deleted.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ items: [FetchedResponse], at time: Int, into database: SQLDatabase) throws {
        guard !items.isEmpty else { return }
        let insert = """
            INSERT INTO ocsp_response (certificate, der, since, until) VALUES (?, ?, ?, ?)
            ON CONFLICT (certificate) DO UPDATE SET der = excluded.der, since = excluded.since, until = excluded.until
            WHERE excluded.since >= ocsp_response.since AND (ocsp_response.until < ? OR excluded.until = ocsp_response.until)
            """
        for item in items where item.response.der.count <= maximumCount {
            try database.execute(
                insert,
                [
                    item.certificate.bytes, item.response.der, item.lifetime.since.seconds,
                    item.lifetime.until.seconds, OCSPResponse.Lifetime.endless.seconds,
                ]
            )
        }
        try database.execute("DELETE FROM ocsp_response WHERE until < ?", [time - tolerance], isCounted: false)
    }
}
