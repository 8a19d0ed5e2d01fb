import Foundation
import PKIX

/// Responders' answers about certificates, in the table `ocsp_response`: one for each certificate, until it expires.
enum ResponseRecord {
    /// How long an answer is kept after its end, in seconds: as far as clocks may be apart.
    static let tolerance = 300

    /// The answers about `certificates`, by their name digests.
    static func responses(
        about certificates: [Certificate],
        in database: SQLDatabase
    ) throws -> [Fingerprint: OCSPResponse] {
        // This query is faster than the digests of all certificates' names.
        let any = "SELECT EXISTS (SELECT 1 FROM ocsp_response)"
        let hasAny = try database.remembered(.hasResponses) { try database.value(any, as: Bool.self) }
        guard hasAny == true else { return [:] }
        let select = "SELECT der FROM ocsp_response WHERE certificate = ?"
        return try certificates.reduce(into: [:]) { found, certificate in
            let name = try certificate.nameDigest
            let der = try database.remembered(.response, [name.bytes], cost: { $0?.count ?? 0 }) {
                try database.value(select, [name.bytes], as: [UInt8].self)
            }
            if let der { found[name] = OCSPResponse(der: der) }
        }
    }
}
