import CMS
import Foundation
import GRDB

/// What is known of some addresses, with what it takes to judge it: all of one moment.
struct RecipientEvidence: Sendable {
    private let known: [(address: AddressScope, recipients: [KnownRecipient])]
    private let trust: TrustStore
    private let authorities: [Certificate]

    init(
        for addresses: [AddressScope],
        _ found: [FoundCertificate],
        systemAnchors: Bool,
        in database: Database
    ) throws {
        let byAddress = Dictionary(grouping: found, by: \.address)
        var domains: [AddressScope: [KnownRecipient]] = [:]
        let hasIdentities = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM identity)") ?? false
        known = try addresses.map { address in
            let registered = try RecipientRecord.candidates(for: address, &domains, in: database)
            // What the registry says of a certificate and its key, distrust included, goes for it wherever it lies.
            var certificates = Set(registered.map(\.certificate))
            let scopes = [address] + [address.address.map(AddressScope.init(domainOf:))].compactMap(\.self)
            let others = scopes.flatMap { byAddress[$0] ?? [] }.filter { certificates.insert($0.certificate).inserted }
            var all = (registered + others.map(KnownRecipient.init)).decidedByKey
            if hasIdentities { try Self.markKeyless(&all, of: address, in: database) }
            return (address, all)
        }
        authorities = Array(Set(found.flatMap(\.authorities)))
        let certificates = known.flatMap(\.recipients).filter { $0.trust != .distrusted }.map(\.certificate)
        trust = try TrustStore(judging: certificates + authorities, systemAnchors: systemAnchors, in: database)
    }

    /// Marks those of `recipients` that were learned or imported for an account whose keys the store has, and whose own key
    /// it lacks: the owner of such a key may be another person.
    private static func markKeyless(
        _ recipients: inout [KnownRecipient],
        of address: AddressScope,
        in database: Database
    ) throws {
        guard let own = address.address, let id = try AccountRecord.id(of: own, in: database) else { return }
        let keys = Set(try AccountRecord.account(id, in: database).identities.map(\.certificate.publicKeyInfo))
        guard !keys.isEmpty else { return }
        for index in recipients.indices {
            let recipient = recipients[index]
            guard ![.added, .identity, .domain].contains(recipient.source), recipient.trust != .pinned else { continue }
            recipients[index].lacksKey = !keys.contains(recipient.certificate.publicKeyInfo)
        }
    }

    /// The choice for each of the addresses, in their order.
    func choices(at time: Date, under terms: TrustTerms) -> [RecipientChoice] {
        let trust = trust.under(terms)
        return known.map {
            RecipientChoice(address: $0.address, recipients: $0.recipients, trust: trust, extra: authorities, at: time)
        }
    }
}

extension KnownRecipient {
    /// What a source had, which nobody has seen before.
    fileprivate init(_ found: FoundCertificate) {
        self.init(
            address: found.address,
            certificate: found.certificate,
            source: found.source,
            sourceDetail: found.detail,
            firstSeen: .now,
            lastSeen: .now,
            rank: found.rank
        )
    }
}
