import Foundation
import LibCrypto
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
        guard !isNamed, !evidence.isPartial else {
            return VerdictBasis(evidence, with: issuers, under: options, at: time)
        }
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

    /// The recipients, in the same order, each with the reason why it is used for `address` or not.
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
                isRevocationMissing: verdict.revocation == .unknown && options.revocation == .hard,
                incompleteness: verdict.incompleteness
            )
        }
        // A pin has no effect on a certificate that was forged for the pinned key, or that was revoked.
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
        guard let record, !record.isNeverStored, record.byPin == (!pinned.isEmpty && pinned.contains(key)) else {
            return nil
        }
        return record
    }
}

/// The options for validating many groups of certificates: everything besides the store on which a verdict depends.
package struct VerdictOptions: Sendable {
    private let systemAnchors: Bool
    /// Whether verdicts may be stored.
    private let isKept: Bool
    private let options: ValidationOptions
    private let madeDigest = LazyValue<[UInt8]?>()
    /// The revocation lists in the options, by the `matchingKey` of their issuers.
    private let lists: [[UInt8]: [CertificateList]]

    /// - Parameter systemAnchors: whether the system's trust anchors are trusted.
    init(_ options: ValidationOptions, systemAnchors: Bool) {
        self.options = options
        self.systemAnchors = systemAnchors
        var lists: [[UInt8]: [CertificateList]] = [:]
        var isWhole = true
        for list in options.certificateLists {
            guard let key = try? list.issuer.matchingKey else {
                isWhole = false
                continue
            }
            lists[key, default: []].append(list)
        }
        self.lists = lists
        // Verdicts are not stored if they use OCSP responses that are not in the store, or while a folder of revocation
        // lists cannot be read.
        isKept = isWhole && options.responses.isEmpty && options.unreadableLists.isEmpty
    }

    /// The digest of the validating program and of the options without revocation lists; nil if verdicts must not be
    /// stored.
    private var digest: [UInt8]? { madeDigest.value(makeDigest) }

    private func makeDigest() -> [UInt8]? {
        guard isKept, let program = Self.program else { return nil }
        let policies = options.policies
        let fields = [
            "verdict 1", program, systemAnchors ? SystemAnchors().folder : "-", options.revocation.rawValue,
            options.profile?.rawValue ?? "-",
            "\(policies.isExplicit) \(policies.inhibitsMapping) \(policies.inhibitsAnyPolicy)",
        ]
        let framed = (fields + policies.acceptable.sorted()).map { "\($0.utf8.count):\($0)" }.joined()
        return try? DigestAlgorithm.sha256.digest(Array(framed.utf8))
    }

    /// The digest of the options and of all other evidence on which verdicts depend; nil if verdicts must not be stored.
    /// `authorities` has one list for each role, in a fixed order.
    func digest(with authorities: [[Fingerprint]], _ lists: [CertificateList]) -> [UInt8]? {
        guard var bytes = digest else { return nil }
        for fingerprints in (authorities + [lists.map(\.fingerprint)]).map(Set.init) {
            bytes += Array("\(fingerprints.count):".utf8) + fingerprints.sorted().flatMap(\.bytes)
        }
        return try? DigestAlgorithm.sha256.digest(bytes)
    }

    /// The options with only those revocation lists that are relevant if `issuers` are the names of the possible issuers.
    func validation(for issuers: Set<[UInt8]>) -> ValidationOptions {
        var options = options
        if !options.certificateLists.isEmpty {
            options.certificateLists =
                lists.isEmpty
                ? []
                : issuers.sorted { $0.lexicographicallyPrecedes($1) }
                    .flatMap { lists[$0] ?? [] }
        }
        return options
    }

    /// Whether the options have a revocation list of the issuer with this `matchingKey`.
    func hasLists(by name: [UInt8]) -> Bool { !lists.isEmpty && lists[name] != nil }

    /// Identifies the program and the libcrypto that validate: other versions may be stricter. Nil if they cannot be
    /// identified.
    private static let program: String? = {
        let path =
            FileManager.default.fileExists(atPath: "/proc/self/exe") ? "/proc/self/exe" : Bundle.main.executablePath
        var status = stat()
        guard let path, stat(path, &status) == 0 else { return nil }
        #if os(Linux)
        let (changed, modified) = (status.st_ctim, status.st_mtim)
        #else
        let (changed, modified) = (status.st_ctimespec, status.st_mtimespec)
        #endif
        return [
            "\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", "\(changed.tv_sec).\(changed.tv_nsec)",
            "\(modified.tv_sec).\(modified.tv_nsec)", Libcrypto.build,
        ].joined(separator: " ")
    }()
}
