import Foundation
import PKIX

/// Verdicts on the recipients' certificates of the store as of `time`. Uses a stored verdict if it is still valid;
/// otherwise validates the certificate.
struct VerdictBook {
    private let evidence: GroupedEvidence
    private let time: Date
    private let options: VerdictOptions
    private var bases: [VerdictRecord.Group: VerdictBasis] = [:]
    /// The basis shared by all groups for which the store has no evidence; nil until it is needed.
    private var empty: VerdictBasis?
    /// The new verdicts to store.
    private(set) var new: [NewVerdict] = []

    init(_ evidence: GroupedEvidence, at time: Date, under options: VerdictOptions) {
        (self.evidence, self.time, self.options) = (evidence, time, options)
    }

    /// The verdict on the certificate of `record`, with its chain; the chain is nil if the verdict was stored.
    ///
    /// - Parameters:
    ///   - asks: whether the caller will query revocation services if the revocation status is unknown. This requires the
    ///     chain.
    ///   - certificate: reads the certificate, which is needed only if there is no stored verdict.
    mutating func verdict(
        on record: VerdictRecord,
        asks: Bool = false,
        _ certificate: () throws -> Certificate
    ) rethrows -> (verdict: RecipientVerdict, chain: ChainVerdict?) {
        let basis = basis(of: record)
        if let known = basis.stored(in: record), !asks || known.revocation != .unknown { return (known, nil) }
        let (chain, made) = basis.judge(try certificate(), record)
        if let made { new.append(made) }
        return (RecipientVerdict(chain), chain)
    }

    private mutating func basis(of record: VerdictRecord) -> VerdictBasis {
        let evidence = evidence[record]
        // The options may have lists of an issuer that the store does not know, or of an issuer with the name of the
        // certificate's subject.
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
    /// The digests of the public keys that are pinned for the address of these recipients.
    var pinnedKeys: Set<[UInt8]> {
        contains { $0.trust == .pinned } ? Set(filter { $0.trust == .pinned }.map(\.key)) : []
    }

    /// The recipients, preferred ones first, each with the reason why it is used for `address` or not.
    ///
    /// - Parameter verdicts: one for each recipient; nil for a certificate that a user distrusted.
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
        // A pin does not make a certificate trusted if it was forged for the pinned key, and has no effect after a
        // revocation.
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
    /// The record of the certificate, if verdicts on the certificate may be stored; otherwise nil.
    ///
    /// - Parameter pinned: the keys that are pinned for the address. A verdict that depends on a pin of another certificate
    ///   with the same key must not be stored.
    func keepableRecord(_ pinned: Set<[UInt8]>) -> VerdictRecord? {
        guard let record, !record.isSpecial, record.byPin == (!pinned.isEmpty && pinned.contains(key)) else {
            return nil
        }
        return record
    }
}
