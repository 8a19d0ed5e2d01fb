import Foundation
import PKIX

/// The verdicts on recipients' certificates of the store at one time: kept ones where they hold, else new ones.
struct VerdictBook {
    private let evidence: GroupedEvidence
    private let time: Date
    private let options: VerdictOptions
    private var bases: [VerdictRecord.Group: VerdictBasis] = [:]
    /// The basis of all groups for which the store has no evidence.
    private var empty: VerdictBasis?
    /// The verdicts that are worth keeping.
    private(set) var new: [NewVerdict] = []

    init(_ evidence: GroupedEvidence, at time: Date, under options: VerdictOptions) {
        (self.evidence, self.time, self.options) = (evidence, time, options)
    }

    /// The verdict on the certificate of `record`, with its chain; without a chain if the verdict was kept.
    ///
    /// - Parameters:
    ///   - asks: whether services will be asked about an unknown revocation status, for which the chain is needed.
    ///   - certificate: reads the certificate, if it must be judged.
    mutating func verdict(
        on record: VerdictRecord,
        asks: Bool = false,
        _ certificate: () throws -> Certificate
    ) rethrows -> (verdict: RecipientVerdict, chain: ChainVerdict?) {
        let basis = basis(of: record)
        if let known = basis.kept(in: record), !asks || known.revocation != .unknown { return (known, nil) }
        let (chain, made) = basis.judge(try certificate(), record)
        if let made { new.append(made) }
        return (RecipientVerdict(chain), chain)
    }

    private mutating func basis(of record: VerdictRecord) -> VerdictBasis {
        let evidence = evidence[record]
        // Lists in the options may have issuers that the store does not know, and one may have the name of the certificate's subject.
        let isNamed = record.subject != record.group.issuer && options.hasLists(by: record.subject)
        var issuers = evidence.issuerKeys
        if evidence.isNone, options.hasLists(by: record.group.issuer) { issuers.insert([UInt8](record.group.issuer)) }
        if isNamed { issuers.insert([UInt8](record.subject)) }
        guard !isNamed else { return VerdictBasis(evidence, with: issuers, under: options, at: time) }
        guard !issuers.isEmpty else {
            let basis = empty ?? VerdictBasis(evidence, with: [], under: options, at: time)
            empty = basis
            return basis
        }
        if let known = bases[record.group] { return known }
        let made = VerdictBasis(evidence, with: issuers, under: options, at: time)
        bases[record.group] = made
        return made
    }
}

extension Array where Element: SelectableRecipient {
    /// The keys that are pinned for the address of these recipients.
    var pinnedKeys: Set<[UInt8]> {
        contains { $0.trust == .pinned } ? Set(filter { $0.trust == .pinned }.map(\.key)) : []
    }

    /// The recipients, the preferred ones first, each with the reason why it is used for `address` or not.
    ///
    /// - Parameter verdicts: one for each; nil for a certificate that a user distrusted.
    func judged(
        by verdicts: [RecipientVerdict?],
        for address: AddressScope,
        under options: ValidationOptions,
        at time: Date
    ) -> [(recipient: Element, reason: RecipientSelection.Reason)] {
        let chains = verdicts.map { verdict in
            guard let verdict else { return RecipientSelection.Chain(isTrusted: false) }
            return RecipientSelection.Chain(
                isTrusted: verdict.isTrusted,
                isRevoked: verdict.revocation == .revoked,
                isRevocationMissing: verdict.revocation == .unknown && options.revocation == .hard
            )
        }
        // A pin does not make a forged certificate for its key trusted, and ends with a revocation.
        let recipients = zip(self, verdicts).map { recipient, verdict in
            recipient.trust == .pinned && verdict?.isPinned != true ? recipient.with(.chain) : recipient
        }
        let reasons = RecipientSelection.reasons(for: recipients, chains, at: time)
        return zip(recipients, reasons).map { recipient, reason in
            let isForDomain = reason == .selected && recipient.address.isDomain && !address.isDomain
            return (recipient, isForDomain ? .selectedForDomain : reason)
        }
    }
}

extension SelectableRecipient {
    /// The record of the certificate, if verdicts on it may be kept.
    ///
    /// - Parameter pinned: the keys that were pinned for the address. A verdict by a pin of another certificate of the key cannot
    ///   be kept.
    func keepableRecord(_ pinned: Set<[UInt8]>) -> VerdictRecord? {
        guard let record, !record.isSpecial, record.byPin == (!pinned.isEmpty && pinned.contains(key)) else {
            return nil
        }
        return record
    }
}
