package import Foundation
import PKIX

/// The certificates of an address or domain, for lists.
package struct RecipientOverview: Sendable {
    /// The address that was looked up.
    package let address: AddressScope
    /// All certificates known for the address, with the reason why each is used or not; in the order of
    /// `RecipientChoice.candidates`.
    package let candidates: [(entry: RecipientEntry, reason: RecipientSelection.Reason)]

    /// The certificate that is used; nil if no certificate can be used.
    package var selected: RecipientEntry? { candidates.first { $0.reason.isSelected }?.entry }

    /// The overview of `choice`.
    package init(_ choice: RecipientChoice) {
        address = choice.address
        candidates = choice.candidates.map { (RecipientEntry($0.recipient), $0.reason) }
    }

    init(address: AddressScope, candidates: [(entry: RecipientEntry, reason: RecipientSelection.Reason)]) {
        (self.address, self.candidates) = (address, candidates)
    }
}

extension RecipientLookup {
    /// Like `choices(for:at:)`, but does not query remote sources, which would learn the whole list. Does not read
    /// certificates with stored verdicts, unless revocation services are to be queried.
    ///
    /// - Parameter addresses: the addresses in the order of the registry.
    package func overviews(
        of addresses: [AddressScope],
        at time: Date
    ) async throws(KeystoreError) -> (overviews: [RecipientOverview], warnings: [String]) {
        let (options, systemAnchors) = (options, systemAnchors)
        var lookup = self
        lookup.sources = sources.filter { !($0 is any RemoteSource) }
        let sources = lookup.sources
        var page = RegistryPage(overviews: addresses.map { _ in nil })
        if revocation == nil || options.revocation == .off {
            // A store on a server has no stored verdicts and unreliable columns, so there the certificates are always read.
            page = try await store.read { snapshot in
                try snapshot.page(of: addresses, at: time, under: options, systemAnchors: systemAnchors)
            }
            await store.keep(page.new, from: fewestKept)
        }
        // The addresses whose certificates must be parsed, or for which other sources may have a certificate.
        let others = page.overviews.indices.filter { index in
            guard let overview = page.overviews[index] else { return true }
            return !sources.isEmpty && overview.selected.map { $0.address != addresses[index] } ?? true
        }
        guard !others.isEmpty else { return (page.overviews.compactMap(\.self), []) }
        let answer = try await lookup.choices(for: others.map { addresses[$0] }, at: time)
        for (index, choice) in zip(others, answer.choices) { page.overviews[index] = RecipientOverview(choice) }
        return (page.overviews.compactMap(\.self), answer.warnings)
    }
}

/// A part of the registry, judged by the database columns that describe the certificates.
struct RegistryPage: Sendable {
    /// One for each address, in order; nil if the address's certificates must be read.
    var overviews: [RecipientOverview?]
    /// The new verdicts to store.
    var new: [NewVerdict] = []
}

extension StoreSnapshot {
    /// The overviews of `addresses`.
    func page(
        of addresses: [AddressScope],
        at time: Date,
        under options: ValidationOptions,
        systemAnchors: Bool
    ) throws -> RegistryPage {
        try RegistryReading(database).page(of: addresses, at: time, under: options, systemAnchors: systemAnchors)
    }
}

/// Reads a part of the registry from one state of the store.
private struct RegistryReading {
    private let database: SQLDatabase
    /// Whether the store has identities, so that certificates of its own addresses need further checks.
    private let hasIdentities: Bool

    init(_ database: SQLDatabase) throws {
        self.database = database
        hasIdentities = try database.value("SELECT EXISTS (SELECT 1 FROM identity)", as: Bool.self) ?? false
    }

    func page(
        of addresses: [AddressScope],
        at time: Date,
        under options: ValidationOptions,
        systemAnchors: Bool
    ) throws -> RegistryPage {
        guard database.storesVerdicts else { return RegistryPage(overviews: addresses.map { _ in nil }) }
        var known = try entries(of: addresses)
        let count = known.reduce(0) { $0 + ($1?.count ?? 0) }
        var evidence = try GroupedEvidence(for: count, systemAnchors: systemAnchors, in: database)
        let recordsByAddress = known.map { $0?.verdictRecords }
        for (index, records) in recordsByAddress.enumerated() {
            do {
                for (entry, record) in zip(known[index] ?? [], records ?? []) where entry.trust != .distrusted {
                    if let record { try evidence.add(record, in: database) { try certificate(record) } }
                }
            } catch is CMSError {
                known[index] = nil
            }
        }
        var book = VerdictBook(evidence, at: time, under: VerdictOptions(options, systemAnchors: systemAnchors))
        let overviews = try zip(addresses, zip(known, recordsByAddress)).map { address, items -> RecipientOverview? in
            guard let entries = items.0, let records = items.1,
                let verdicts = try verdicts(on: entries, records, by: &book)
            else { return nil }
            let candidates = entries.judged(by: verdicts, for: address, under: options, at: time)
            return RecipientOverview(address: address, candidates: candidates.map { ($0.recipient, $0.reason) })
        }
        return RegistryPage(overviews: overviews, new: book.new)
    }

    /// A verdict on each of `entries`; nil for an entry that a user distrusted. The array is nil if an entry has no record
    /// for stored verdicts, or cannot be read.
    private func verdicts(
        on entries: [RecipientEntry],
        _ records: [VerdictRecord?],
        by book: inout VerdictBook
    ) throws -> [RecipientVerdict?]? {
        var verdicts: [RecipientVerdict?] = []
        for (entry, record) in zip(entries, records) {
            guard entry.trust != .distrusted else {
                verdicts.append(nil)
                continue
            }
            guard let record else { return nil }
            do { verdicts.append(try book.verdict(on: record) { try certificate(record) }.verdict) } catch is CMSError {
                return nil
            }
        }
        return verdicts
    }

    private func certificate(_ record: VerdictRecord) throws -> Certificate {
        let row = try database.row("SELECT der, fingerprint FROM certificate WHERE id = ?", [record.certificate])
        guard let row else { throw SQLError(.corrupt, "a certificate is missing") }
        return try row.certificate()
    }

    /// The entries of each of `addresses` and of its domain; nil if the database columns do not suffice.
    private func entries(of addresses: [AddressScope]) throws -> [[RecipientEntry]?] {
        let select = """
            \(RecipientEntry.columns(in: database)) WHERE address_key = ?
            ORDER BY not_before DESC, not_after DESC, fingerprint
            """
        func own(_ scope: AddressScope) throws -> [RecipientEntry]? {
            var entries: [RecipientEntry] = []
            for row in try database.rows(select, [scope.key]) {
                let text: String = try row.value("address")
                let written = text == scope.text ? scope : try? AddressScope(text)
                guard let written, written == scope, let entry = try RecipientEntry(row, of: written) else {
                    return nil
                }
                entries.append(entry)
            }
            return entries.decidedByKey
        }
        var domains: [AddressScope: [RecipientEntry]?] = [:]
        return try addresses.map { scope in
            guard let address = scope.address else { return try own(scope) }
            if hasIdentities, try AccountRecord.id(of: address, in: database) != nil { return nil }
            let domain = AddressScope(domainOf: address)
            let shared = try domains[domain] ?? own(domain)
            domains[domain] = .some(shared)
            guard let shared, let entries = try own(scope) else { return nil }
            return shared.isEmpty ? entries : (entries + shared).decidedByKey
        }
    }
}

extension [RecipientEntry] {
    /// For each entry, the record with which stored verdicts are found; nil if no verdict on the entry is stored.
    fileprivate var verdictRecords: [VerdictRecord?] {
        let pinned = pinnedKeys
        return map { $0.keepableRecord(pinned) }
    }
}
