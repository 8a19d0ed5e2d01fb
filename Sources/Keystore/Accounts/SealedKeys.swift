import CMS
import Foundation
import GRDB

/// Private keys as the database holds them, to be opened outside of it.
struct SealedKeys: Sendable {
    private let rows: [(certificate: Certificate, sealed: [UInt8])]
    private let storeKey: [UInt8]?

    var certificates: [Certificate] { rows.map(\.certificate) }

    /// The keys of the certificates that meet `condition`, newest first.
    init(where condition: String, _ arguments: StatementArguments, in database: Database) throws {
        rows = try Row.fetchAll(
            database.cachedStatement(
                """
                SELECT der, sealed FROM certificate JOIN private_key ON certificate = id
                WHERE \(condition) ORDER BY not_before DESC, not_after DESC, fingerprint
                """
            ),
            arguments: arguments
        ).map { (try $0.certificate(), [UInt8]($0["sealed"] as Data)) }
        storeKey = try StoreKey.sealed(in: database)
    }

    /// The keys of `certificates`, in this order.
    init(certificates: [Certificate], in database: Database) throws {
        rows = try certificates.flatMap { certificate in
            try SealedKeys(where: "fingerprint = ?", [Data(certificate.fingerprint.bytes)], in: database).rows
        }
        storeKey = try StoreKey.sealed(in: database)
    }

    /// The keys of the certificates that a RecipientInfo names.
    init(matching identifier: EntityIdentifier, in database: Database) throws {
        switch identifier {
        case .issuerAndSerial(let issuer, let serialNumber):
            try self.init(where: "issuer = ? AND serial = ?", [Data(issuer), Data(serialNumber)], in: database)
        case .subjectKeyIdentifier(let identifier):
            try self.init(where: "key_identifier = ?", [Data(identifier)], in: database)
        }
    }

    /// Opens every key.
    ///
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`; `.corrupt` for a key that was changed on disk.
    func open(_ location: StoreLocation) throws(KeystoreError) -> [KeyedCertificate] {
        guard !rows.isEmpty else { return [] }
        let storeKey = try StoreKey(sealed: storeKey, location: location)
        do {
            return try rows.map { row in
                KeyedCertificate(
                    certificate: row.certificate,
                    key: try storeKey.open(row.sealed, for: row.certificate.fingerprint)
                )
            }
        } catch {
            throw KeystoreError.corrupt(path: location.database, detail: "a private key was changed")
        }
    }
}
