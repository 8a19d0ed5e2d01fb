import Foundation
import GRDB
package import PKIX

extension Store {
    /// Every certificate in the store, whosever it is, that one of `identifiers` names; in their order.
    package func certificates(
        matching identifiers: [EntityIdentifier]
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.read { database in
            try identifiers.flatMap { try Self.certificates(named: $0, in: database) }
        }
    }

    /// The certificate with this fingerprint, whosever it is.
    ///
    /// - Throws: `.unknownCertificate`
    package func certificate(_ fingerprint: Fingerprint) async throws(KeystoreError) -> Certificate {
        let found = try await database.read { database in
            let statement = try database.cachedStatement("SELECT der FROM certificate WHERE fingerprint = ?")
            return try Row.fetchOne(statement, arguments: [Data(fingerprint.bytes)])?.certificate()
        }
        guard let found else { throw .unknownCertificate(fingerprint) }
        return found
    }

    private static func certificates(named identifier: EntityIdentifier, in database: Database) throws -> [Certificate]
    {
        let (condition, arguments): (String, StatementArguments) =
            switch identifier {
            case .issuerAndSerial(let issuer, let serial): ("issuer = ? AND serial = ?", [Data(issuer), Data(serial)])
            case .subjectKeyIdentifier(let identifier): ("key_identifier = ?", [Data(identifier)])
            }
        let statement = try database.cachedStatement("SELECT der FROM certificate WHERE \(condition) LIMIT 100")
        return try Row.fetchAll(statement, arguments: arguments).map { try $0.certificate() }
    }
}
