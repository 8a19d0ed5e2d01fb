import Foundation
import LibCrypto
import PKIX

/// The evidence on which the verdicts on a group of certificates depend, for given options and a given time. A digest
/// identifies the evidence, and `Extent` says for which period the evidence gives the same verdicts.
struct VerdictBasis {
    /// The evidence for validation, without pins.
    let trust: TrustStore
    /// Determines whether a stored verdict is still valid. Computed on first use, since most verdicts are not stored.
    private let extent = LazyValue<Extent>()
    private let evidence: VerdictEvidence
    private let options: VerdictOptions
    private let parsedLists: ParsedLists
    private let time: Date

    /// - Parameter issuers: the `matchingKey`s of the names whose revocation lists are used.
    init(_ evidence: VerdictEvidence, with issuers: Set<[UInt8]>, under options: VerdictOptions, at time: Date) {
        let trust = evidence.trust.judging(by: options.validation(for: issuers))
        (self.trust, self.time, self.evidence, self.options) = (trust, time, evidence, options)
        parsedLists = ParsedLists(trust.certificateLists + trust.options.certificateLists)
    }

    private struct Extent {
        /// The digest of the evidence and options; nil if verdicts must not be stored.
        let digest: [UInt8]?
        /// The period around the time in which no validity period begins or ends, so that verdicts cannot change; in
        /// seconds since 1970.
        let since, until: Int
    }

    private func makeExtent() -> Extent {
        let lists = trust.certificateLists + trust.options.certificateLists
        let found = evidence.issuers.compactMap { trust.systemAnchors?.certificates(named: $0) }
        let system = found.flatMap(\.certificates)
        let authorities = trust.anchors + trust.intermediates + system
        let moments =
            authorities.map(\.notBefore) + authorities.map(\.notAfter) + lists.map(\.thisUpdate)
            + lists.compactMap(\.nextUpdate)
        let now = time.seconds
        let (since, until) = Self.limits(moments.map(\.seconds), around: now)
        // A verdict is stored only if `moments` has every time at which it may change. A list issued after `time` has
        // further times, one for each revocation, and OCSP responses have times and certificates of their own.
        // Unreadable lists and anchors are not covered by the digest.
        let isPlain =
            trust.responses.isEmpty && trust.unreadableLists.isEmpty && found.allSatisfy { $0.unreadable == nil }
            && lists.allSatisfy { $0.thisUpdate.seconds <= now }
        let digest =
            isPlain
            ? options.digest(with: [trust.anchors, trust.intermediates, system].map { $0.map(\.fingerprint) }, lists)
            : nil
        return Extent(digest: digest, since: since, until: until)
    }

    /// The verdict stored in `record`, if it has the same basis and is valid at the time; otherwise nil.
    func stored(in record: VerdictRecord) -> RecipientVerdict? {
        guard let stored = record.stored, stored.holds(at: time.seconds), let own = digest(for: record),
            own == stored.basis
        else { return nil }
        return stored.verdict
    }

    /// Validates `certificate`, the certificate of `record`.
    ///
    /// - Returns: the verdict on the chain, and the verdict to store; nil if the verdict must not be stored.
    func judge(_ certificate: Certificate, _ record: VerdictRecord) -> (chain: ChainVerdict, new: NewVerdict?) {
        var trust = trust
        parsedLists.parse()
        if record.byPin { trust.pinned = [certificate.publicKeyDigest] }
        let judgement = trust.judgement(of: certificate, purpose: .encryption, at: time)
        guard judgement.mayBeStored else { return (judgement.verdict, nil) }
        let (now, extent) = (time.seconds, extent.value(makeExtent))
        let own = Self.limits([certificate.notBefore.seconds, certificate.notAfter.seconds], around: now)
        let (since, until) = (max(extent.since, own.since), min(extent.until, own.until))
        guard since < now, let basis = digest(for: record) else {
            return (judgement.verdict, nil)
        }
        let stored = StoredVerdict(
            verdict: RecipientVerdict(judgement.verdict),
            basis: basis,
            since: since,
            until: until
        )
        let new = NewVerdict(certificate: record.certificate, byPin: record.byPin, stored: stored)
        return (judgement.verdict, new)
    }

    /// The digest of the basis and of the certificate's fingerprint, because the row may later have another certificate.
    private func digest(for record: VerdictRecord) -> [UInt8]? {
        guard let digest = extent.value(makeExtent).digest else { return nil }
        return try? DigestAlgorithm.sha256.digest(digest + record.fingerprint + [record.byPin ? 1 : 0])
    }

    /// The latest of `moments` that is not after `now`, and the first one after it. A verdict is not stored if `now` is one
    /// of `moments`, because it may change within this second.
    private static func limits(_ moments: [Int], around now: Int) -> (since: Int, until: Int) {
        (moments.filter { $0 <= now }.max() ?? .min, moments.filter { $0 > now }.min() ?? .max)
    }
}

/// The store's evidence for validating a group of certificates. No other data of the store is relevant for any of them.
struct VerdictEvidence: Sendable {
    /// The anchors, intermediates, revocation lists and OCSP responses that are relevant for the group; without pins.
    let trust: TrustStore
    /// The names of all issuers in possible chains, and the `matchingKey`s of the names.
    let issuers: [DistinguishedName]
    let issuerKeys: Set<[UInt8]>
    /// Whether there were too many authorities to use all, so that the evidence is only for one certificate.
    let isPartial: Bool

    /// Whether the store has no evidence, so that only the options provide some.
    var isNone: Bool { issuerKeys.isEmpty }

    /// The evidence for `certificate` and the other certificates of its group.
    init(on certificate: Certificate, systemAnchors: Bool, in database: SQLDatabase) throws {
        let authorities = try Authorities(above: [certificate], in: database)
        let lists = try StoredLists(by: authorities.issuers, in: database)
        var trust = TrustStore(
            anchors: authorities.all.filter(authorities.anchors.contains),
            intermediates: authorities.all.filter { !authorities.anchors.contains($0) },
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
        trust.use(lists)
        trust.responses = try ResponseRecord.responses(about: authorities.all, in: database)
        self.trust = trust
        var seen: Set<[UInt8]> = []
        issuers = ([certificate] + authorities.all).map(\.issuer).filter { seen.insert($0.der).inserted }
        issuerKeys = authorities.issuers
        isPartial = !authorities.isComplete
    }

    private init(trust: TrustStore) {
        self.trust = trust
        (issuers, issuerKeys, isPartial) = ([], [], false)
    }

    /// No evidence: for a group whose issuer has no CA certificate and no revocation list in the store.
    static func none(systemAnchors: Bool) -> VerdictEvidence {
        VerdictEvidence(trust: TrustStore(systemAnchors: systemAnchors ? SystemAnchors() : nil))
    }
}

/// The evidence for each group of certificates that are validated together. It is read for the first certificate of a
/// group, or for each one if it is partial.
struct GroupedEvidence: Sendable {
    private let systemAnchors: Bool
    private let none: VerdictEvidence
    /// The names, in the form for comparison (`matchingKey`), of all CA certificates and of the issuers of all revocation lists
    /// in the store; nil if they were not read.
    private let names: Set<[UInt8]>?
    /// The name hashes of the system's anchors.
    private let systemNames: Set<UInt32>
    private var groups: [VerdictRecord.Group: VerdictEvidence] = [:]
    /// The evidence for single certificates of groups whose evidence is partial, by their fingerprints.
    private var singles: [[UInt8]: VerdictEvidence] = [:]

    /// Up to this number of groups, each is looked up individually. For more, the names of all CA certificates and list
    /// issuers are read once.
    private static let fewGroups = 16

    /// - Parameter count: the maximum number of certificates.
    init(for count: Int, systemAnchors: Bool, in database: SQLDatabase) throws {
        self.systemAnchors = systemAnchors
        none = .none(systemAnchors: systemAnchors)
        guard count > Self.fewGroups, let system = systemAnchors ? SystemAnchors().hashes : [] else {
            (names, systemNames) = (nil, [])
            return
        }
        systemNames = system
        names = try Set(
            database.values(
                """
                SELECT subject_key FROM anchor JOIN certificate ON id = certificate
                UNION SELECT subject_key FROM intermediate JOIN certificate ON id = certificate
                UNION SELECT issuer_key FROM crl
                """,
                as: [UInt8].self
            )
        )
    }

    /// Reads the evidence for the group of `record`, unless it has been read.
    ///
    /// - Parameter certificate: reads the certificate of `record`; called only if needed.
    mutating func add(
        _ record: VerdictRecord,
        in database: SQLDatabase,
        _ certificate: () throws -> Certificate
    ) throws {
        guard !hasNoEvidence(record), groups[record.group]?.isPartial != false else { return }
        let evidence = try VerdictEvidence(on: certificate(), systemAnchors: systemAnchors, in: database)
        if groups[record.group] == nil { groups[record.group] = evidence }
        if evidence.isPartial { singles[record.fingerprint] = evidence }
    }

    /// The evidence for the group of `record`; no evidence if it was not read.
    subscript(_ record: VerdictRecord) -> VerdictEvidence {
        hasNoEvidence(record) ? none : singles[record.fingerprint] ?? groups[record.group] ?? none
    }

    /// Whether neither the store nor the system's anchors have a certificate or list with the issuer's name.
    private func hasNoEvidence(_ record: VerdictRecord) -> Bool {
        guard let names, record.group.alone == nil, let hash = record.group.issuerHash else { return false }
        return !names.contains(record.group.issuer) && !systemNames.contains(hash)
    }
}
