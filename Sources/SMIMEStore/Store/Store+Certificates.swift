import Foundation
package import PKIX

extension Store {
    /// The certificates in the store that `identifiers` name, in the order of `identifiers`. They may belong to accounts or
    /// to other people.
    package func certificates(
        matching identifiers: [EntityIdentifier]
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.read { database in
            try identifiers.flatMap { try Self.certificates(named: $0, in: database) }
        }
    }

    /// The certificate with this fingerprint, of an account or of another person.
    ///
    /// - Throws: `.unknownCertificate`
    package func certificate(_ fingerprint: Fingerprint) async throws(KeystoreError) -> Certificate {
        let found = try await database.read { database in
            let statement = "SELECT der, fingerprint FROM certificate WHERE fingerprint = ?"
            return try database.row(statement, [fingerprint.bytes])?.certificate()
        }
        guard let found else { throw .unknownCertificate(fingerprint) }
        return found
    }

    /// The certificates whose fingerprints begin with `prefix`, of accounts or of other people, at most 100.
    package func certificates(named prefix: FingerprintPrefix) async throws(KeystoreError) -> [Certificate] {
        guard let range = prefix.range else { return [] }
        return try await database.read { database in
            let statement = "SELECT der, fingerprint FROM certificate WHERE fingerprint BETWEEN ? AND ? LIMIT 100"
            return try database.rows(statement, [range.lowerBound.bytes, range.upperBound.bytes])
                .compactMap { try? $0.certificate() }
        }
    }

    private static func certificates(named identifier: EntityIdentifier, in database: SQLDatabase) throws
        -> [Certificate]
    {
        let (condition, arguments): (String, SQLArguments) =
            switch identifier {
            case .issuerAndSerial(let issuer, let serial): ("issuer = ? AND serial = ?", [issuer, serial])
            case .subjectKeyIdentifier(let identifier): ("key_identifier = ?", [identifier])
            }
        let statement = "SELECT der, fingerprint FROM certificate WHERE \(condition) LIMIT 100"
        return try database.cached(.certificates, [condition] + arguments, cost: \.encodedCount) {
            // An unreadable certificate cannot be the signer's, so it is ignored.
            try database.rows(statement, arguments).compactMap { try? $0.certificate() }
        }
    }
}
