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
        known = try addresses.map { address in
            let registered = try RecipientRecord.candidates(for: address, in: database)
            // What the registry says of a certificate, be it that nobody trusts it, goes for it wherever it lies.
            var certificates = Set(registered.map(\.certificate))
            let scopes = [address] + [address.address.map(AddressScope.init(domainOf:))].compactMap(\.self)
            let others = scopes.flatMap { byAddress[$0] ?? [] }.filter { certificates.insert($0.certificate).inserted }
            return (address, registered + others.map(KnownRecipient.init))
        }
        authorities = Array(Set(found.flatMap(\.authorities)))
        let certificates = known.flatMap(\.recipients).filter { $0.trust != .distrusted }.map(\.certificate)
        trust = try TrustStore(judging: certificates + authorities, systemAnchors: systemAnchors, in: database)
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
