import Foundation
import PKIX

/// OCSP responses, in the table `ocsp_response`: one response for each certificate, until it expires.
enum ResponseRecord {
    /// How long an expired answer stays stored, in seconds. This allows for differences between clocks.
    static let tolerance = 300

    /// The stored answers about `certificates`, by the certificates' name digests.
    static func responses(
        about certificates: [Certificate],
        in database: SQLDatabase
    ) throws -> [Fingerprint: OCSPResponse] {
        // This query is faster than computing the name digests of all certificates.
        let any = "SELECT EXISTS (SELECT 1 FROM ocsp_response)"
        let hasAny = try database.cached(.hasResponses) { try database.value(any, as: Bool.self) }
        guard hasAny == true else { return [:] }
        let select = "SELECT der FROM ocsp_response WHERE certificate = ?"
        return try certificates.reduce(into: [:]) { found, certificate in
            let name = try certificate.nameDigest
            let der = try database.cached(.response, [name.bytes], cost: { $0?.count ?? 0 }) {
                try database.value(select, [name.bytes], as: [UInt8].self)
            }
            if let der { found[name] = OCSPResponse(der: der) }
        }
    }

    /// All stored answers, by the certificates' name digests.
    static func all(in database: SQLDatabase) throws -> [Fingerprint: OCSPResponse] {
        try database.rows("SELECT certificate, der FROM ocsp_response").reduce(into: [:]) { found, row in
            guard let name = Fingerprint(bytes: try row.value("certificate")) else { return }
            found[name] = OCSPResponse(der: try row.value("der"))
        }
    }
}
