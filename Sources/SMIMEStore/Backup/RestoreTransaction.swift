import Foundation
import InternetMessage
import PKIX
import SMIME

/// Adds a backup to the database. Existing values stay, except those that `update` replaces.
struct RestoreTransaction {
    let database: SQLDatabase
    let restoration: Restoration
    private var report = RestoreReport()

    init(database: SQLDatabase, restoration: Restoration) {
        self.database = database
        self.restoration = restoration
    }

    /// - Parameters:
    ///   - sealedKeys: the private keys of `restoration.items`, in the same order.
    ///   - more: makes further changes in the same transaction.
    mutating func run(sealedKeys: [[UInt8]], _ more: () throws -> Void) throws -> RestoreReport {
        let changes = database.changedCount
        let before = try count("certificate")
        for (item, sealed) in zip(restoration.items, sealedKeys) {
            let row = try CertificateRecord.insert(item.identity.certificate, into: database)
            try change(
                "INSERT INTO private_key (certificate, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [row, sealed]
            )
        }
        for account in restoration.accounts { try restore(account) }
        for authority in restoration.authorities { try restore(authority.certificate, anchored: authority.anchored) }
        for list in restoration.revocationLists {
            try RevocationListRecord.insert(list, at: restoration.created, into: database)
        }
        // Distrusted recipients come first, because `trust(of:)` must find only the pins that the store had before.
        for recipient in restoration.recipients where recipient.trust == .distrusted { try restore(recipient) }
        for recipient in restoration.recipients where recipient.trust != .distrusted { try restore(recipient) }
        try restore(restoration.rules)
        try more()
        report.newCertificates = try count("certificate") - before
        report.changesStore = database.changedCount != changes
        return report
    }

    private mutating func restore(_ account: Restoration.Account) throws {
        let id: Int64
        if let found = try AccountRecord.id(of: account.address, in: database) {
            id = found
            report.accounts.append(.init(address: account.address, isNew: false))
            for (column, value) in [
                ("name", account.backup.name), ("header_confidentiality", account.headerConfidentiality?.rawValue),
            ] {
                guard let value else { continue }
                try change("UPDATE account SET \(column) = ? WHERE id = ? AND \(column) IS NULL", [value, id])
            }
        } else {
            id = try database.insert(
                """
                INSERT INTO account (address_key, address, name, header_confidentiality, created) VALUES (?, ?, ?, ?, ?)
                """,
                [
                    account.address.key, account.address.text, account.backup.name,
                    account.headerConfidentiality?.rawValue, account.backup.created,
                ]
            )
            report.accounts.append(.init(address: account.address, isNew: true))
        }
        for alias in account.aliases {
            do {
                guard try AccountRecord.add(alias, to: id, in: database) else { continue }
                report.newAliases.append(.init(account: account.address, alias: alias))
            } catch KeystoreError.addressTaken(_, let owner) {
                report.kept.append("\(alias.text) belongs to the account \(owner)")
            }
        }
        try restoreIdentities(of: account, id)
    }

    private mutating func restoreIdentities(of account: Restoration.Account, _ id: Int64) throws {
        let pinned = try AccountRecord.account(id, in: database).identities.filter(\.isPinned).map(\.certificate)
        for (certificate, identity) in account.identities {
            let row = try CertificateRecord.insert(certificate, into: database)
            // An identity of the store that is pinned for the same use stays the only pinned one.
            let isPinned = identity.pinned && !pinned.contains { $0.sharesUse(with: certificate) }
            let isNew = try change(
                "INSERT INTO identity (account, certificate, assigned, pinned, added) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [id, row, identity.assigned, isPinned, identity.added]
            )
            report.identities.append(.init(account: account.address, certificate: certificate, isNew: isNew))
        }
    }

    private mutating func restore(_ authority: Certificate, anchored: Int?) throws {
        let row = try CertificateRecord.insert(authority, into: database)
        guard let anchored else {
            try change("INSERT INTO intermediate (certificate) VALUES (?) ON CONFLICT DO NOTHING", [row])
            return
        }
        if try change("INSERT INTO anchor (certificate, added) VALUES (?, ?) ON CONFLICT DO NOTHING", [row, anchored]) {
            report.newAnchors.append(authority)
        }
    }

    private mutating func restore(_ recipient: Restoration.Recipient) throws {
        let row = try CertificateRecord.insert(recipient.certificate, into: database)
        let backup = recipient.backup
        let trust = try trust(of: recipient)
        let isNew = try change(
            """
            INSERT INTO recipient (address_key, certificate, address, source, source_detail, first_seen,
                last_seen, trust, capabilities, capabilities_time)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                recipient.key, row, backup.address, recipient.source.rawValue, backup.sourceDetail, backup.firstSeen,
                backup.lastSeen, trust.rawValue, backup.capabilities, backup.capabilitiesTime,
            ]
        )
        guard isNew else {
            if try update(recipient, row, decision: trust) { report.updatedRecipients += 1 }
            return
        }
        report.newRecipients += 1
        if Self.isDecision(trust) { note(trust, of: recipient) }
    }

    /// Whether `trust` is a user's decision.
    private static func isDecision(_ trust: KnownRecipient.Trust) -> Bool { trust == .pinned || trust == .distrusted }

    private mutating func note(_ decision: KnownRecipient.Trust, of recipient: Restoration.Recipient) {
        report.newDecisions.append(
            .init(address: recipient.backup.address, certificate: recipient.certificate, trust: decision)
        )
    }

    /// The trust in the backup; `chain` instead of a distrust if a user of the store pinned the key, in any certificate.
    private func trust(of recipient: Restoration.Recipient) throws -> KnownRecipient.Trust {
        guard recipient.trust == .distrusted else { return recipient.trust }
        let decisions = try KeyDecisions(on: [recipient.certificate], in: database)
        let scopes = decisions.scopes[recipient.certificate.publicKeyDigest]
        return scopes?.pinned.contains(recipient.key) == true ? .chain : .distrusted
    }

    /// Adds the data that the store lacks: an earlier first or later last sighting, newer capabilities, a user's decision if
    /// the store has none (its trust is `chain` or `held`), and the source `identity`, which ends a hold.
    private mutating func update(
        _ recipient: Restoration.Recipient,
        _ row: Int64,
        decision: KnownRecipient.Trust
    ) throws -> Bool {
        let key: SQLArguments = [recipient.key, row]
        let times = try change(
            """
            UPDATE recipient SET first_seen = CASE WHEN first_seen > ?1 THEN ?1 ELSE first_seen END,
                last_seen = CASE WHEN last_seen < ?2 THEN ?2 ELSE last_seen END
            WHERE address_key = ?3 AND certificate = ?4 AND (first_seen > ?1 OR last_seen < ?2)
            """,
            [recipient.backup.firstSeen, recipient.backup.lastSeen] + key,
            isCounted: false
        )
        var capabilities = false
        if let list = recipient.backup.capabilities {
            capabilities = try change(
                """
                UPDATE recipient SET capabilities = ?1, capabilities_time = ?2 WHERE address_key = ?3
                    AND certificate = ?4 AND (capabilities IS NULL OR capabilities_time IS NULL OR capabilities_time < ?2)
                """,
                [list, recipient.backup.capabilitiesTime] + key
            )
        }
        var trust = false
        if Self.isDecision(decision) {
            trust = try change(
                """
                UPDATE recipient SET trust = ? WHERE address_key = ? AND certificate = ? AND trust IN ('chain', 'held')
                """,
                [decision.rawValue] + key
            )
            if trust { note(decision, of: recipient) }
        }
        let isIdentity = recipient.source == .identity
        let own =
            try isIdentity
            && change(
                """
                UPDATE recipient SET source = 'identity', trust = CASE WHEN trust = 'held' THEN 'chain' ELSE trust END
                WHERE address_key = ? AND certificate = ? AND (source <> 'identity' OR trust = 'held')
                """,
                key
            )
        return times || capabilities || trust || own
    }

    private mutating func restore(_ rules: [Policy.Rule]) throws {
        var new: [Policy.Rule] = []
        for rule in rules {
            guard let existing = try PolicyStore.rule(rule.scope, in: database) else {
                new.append(rule)
                continue
            }
            if existing != rule { report.kept.append("the store has another policy rule for \(rule.scope)") }
        }
        try PolicyStore.save(new, in: database)
        report.newRules += new
    }

    private func count(_ table: String) throws -> Int {
        try database.value("SELECT count(*) FROM \(table)", as: Int.self) ?? 0
    }

    /// Runs a statement. Returns whether the statement changed a row.
    @discardableResult
    private func change(_ sql: String, _ arguments: SQLArguments, isCounted: Bool = true) throws -> Bool {
        try database.execute(sql, arguments, isCounted: isCounted) > 0
    }
}
