import Foundation
import InternetMessage
import PKIX

/// Stores one import in the database.
///
/// Existing rows change only where the import says more: a user assigned the identity, pinned the certificate, or
/// imported what had been learned or fetched, or the store now has the private key. Newer revocation lists and OCSP
/// responses replace older ones. A second import changes nothing.
struct ImportTransaction {
    let database: SQLDatabase
    /// The time of the import, in seconds since 1970.
    let time: Int

    /// - Parameter sealedKeys: the private keys of `batch.identities`, in the same order.
    func run(_ batch: ImportBatch, sealedKeys: [[UInt8]]) throws -> ImportReport {
        var report = ImportReport()
        for (item, sealed) in zip(batch.identities, sealedKeys) { try add(item, sealed, report: &report) }
        for item in batch.recipients { try add(item, &report) }
        for certificate in batch.intermediates {
            let row = try CertificateRecord.insert(certificate, into: database)
            let isNew = try change("INSERT INTO intermediate (certificate) VALUES (?) ON CONFLICT DO NOTHING", [row])
            // A CA certificate that a user imports is no longer marked as learned, so that it is not removed automatically.
            if !isNew {
                try change("UPDATE intermediate SET learned = 0 WHERE certificate = ? AND learned <> 0", [row])
            }
            report.intermediates.append(.init(certificate: certificate, isNew: isNew))
        }
        for certificate in batch.anchors {
            let row = try CertificateRecord.insert(certificate, into: database)
            let isNew = try change(
                "INSERT INTO anchor (certificate, added) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [row, time]
            )
            report.anchors.append(.init(certificate: certificate, isNew: isNew))
        }
        for list in batch.crls {
            let isNew = try RevocationListRecord.insert(list, at: time, into: database)
            report.crls.append(.init(list: list, isNew: isNew))
        }
        for item in batch.fetchedLists { try RevocationListRecord.insert(item, at: time, into: database) }
        try ResponseRecord.insert(batch.responses, at: time, into: database)
        try OutageRecord.insert(
            batch.silentServices,
            answered: batch.answeringServices,
            at: time,
            into: database
        )
        return report
    }

    private func add(_ item: ImportBatch.IdentityItem, _ sealed: [UInt8], report: inout ImportReport) throws {
        let row = try CertificateRecord.insert(item.identity.certificate, into: database)
        try change("INSERT INTO private_key (certificate, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING", [row, sealed])
        for address in item.accounts {
            let account = try self.account(address)
            var isNew = try change(
                "INSERT INTO identity (account, certificate, assigned, added) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [account, row, item.isAssigned, time]
            )
            // An existing identity that a user assigns now becomes an assigned one.
            if item.isAssigned, !isNew {
                isNew = try change(
                    "UPDATE identity SET assigned = 1 WHERE account = ? AND certificate = ? AND assigned = 0",
                    [account, row]
                )
            }
            if try !addRecipient(row, AddressScope(address), source: .identity, trust: .chain) {
                try makeOwn(row, AddressScope(address))
            }
            report.identities.append(
                .init(address: AddressScope(address), certificate: item.identity.certificate, isNew: isNew)
            )
        }
    }

    private func add(_ item: ImportBatch.RecipientItem, _ report: inout ImportReport) throws {
        let row = try CertificateRecord.insert(item.certificate, into: database)
        for address in item.addresses {
            // Another certificate for a distrusted key is distrusted as well, until a user decides otherwise.
            let isDistrusted = try RecipientRecord.isDistrusted(item.certificate, for: address, in: database)
            var isNew = try addRecipient(
                row,
                address,
                source: address.isDomain ? .domain : item.source,
                trust: isDistrusted ? .distrusted : .chain
            )
            if item.isPinned, try !isPinned(row, address) {
                isNew = true
                try RecipientRecord.setTrust(.pinned, of: [item.certificate], for: address, in: database)
            }
            report.recipients.append(.init(address: address, certificate: item.certificate, isNew: isNew))
        }
    }

    private func isPinned(_ certificate: Int64, _ address: AddressScope) throws -> Bool {
        try database.value(
            "SELECT trust = ? FROM recipient WHERE address_key = ? AND certificate = ?",
            [KnownRecipient.Trust.pinned.rawValue, address.key, certificate],
            as: Bool.self
        ) ?? false
    }

    /// The row ID of the account that has `address` as its main address or as an alias. Creates the account if there is
    /// none.
    private func account(_ address: EmailAddress) throws -> Int64 {
        if let id = try AccountRecord.id(of: address, in: database) { return id }
        return try database.insert(
            "INSERT INTO account (address_key, address, created) VALUES (?, ?, ?)",
            [address.key, address.text, time]
        )
    }

    /// Marks a learned or held certificate as the account's own, and ends the hold, now that the store has the private
    /// key. A user's decision stays, and so does the source of a certificate that a user imported and that was not held.
    private func makeOwn(_ certificate: Int64, _ address: AddressScope) throws {
        try change(
            """
            UPDATE recipient SET source = 'identity', trust = 'chain'
            WHERE address_key = ? AND certificate = ? AND (trust = 'held' OR source = 'harvest' AND trust = 'chain')
            """,
            [address.key, certificate]
        )
    }

    private func addRecipient(
        _ certificate: Int64,
        _ address: AddressScope,
        source: KnownRecipient.Source,
        trust: KnownRecipient.Trust
    ) throws -> Bool {
        try change(
            """
            INSERT INTO recipient
                (address_key, certificate, address, source, first_seen, last_seen, trust)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [address.key, certificate, address.text, source.rawValue, time, time, trust.rawValue]
        )
    }

    /// Runs a statement. Returns whether the statement changed a row.
    @discardableResult
    private func change(_ sql: String, _ arguments: SQLArguments) throws -> Bool {
        try database.execute(sql, arguments) > 0
    }
}
