import Foundation
import GRDB
import PKIX

/// Responders' answers about certificates, in the table `ocsp_response`: one for each certificate, until it expires.
enum ResponseRecord {
    /// How long an answer is kept after its end, in seconds: as far as clocks may be apart.
    static let tolerance = 300

    /// The answers about `certificates`, by their name digests.
    static func responses(
        about certificates: [Certificate],
        in database: Database
    ) throws -> [Fingerprint: OCSPResponse] {
        // To digest the name of each certificate takes longer than to ask whether there are any answers.
        let any = try database.cachedStatement("SELECT EXISTS (SELECT 1 FROM ocsp_response)")
        guard try Bool.fetchOne(any) == true else { return [:] }
        let select = try database.cachedStatement("SELECT der FROM ocsp_response WHERE certificate = ?")
        return try certificates.reduce(into: [:]) { found, certificate in
            let name = try certificate.nameDigest
            let der = try Data.fetchOne(select, arguments: [Data(name.bytes)])
            if let der { found[name] = OCSPResponse(der: [UInt8](der)) }
        }
    }
}
