import Foundation
import PKIX

/// The store's evidence for validating a group of certificates. No other data of the store is relevant for any of them.
struct VerdictEvidence: Sendable {
    /// The anchors, intermediates, revocation lists and OCSP responses that are relevant for the group; without pins.
    let trust: TrustStore
    /// The names of all issuers in possible chains, and the `matchingKey`s of the names.
    let issuers: [DistinguishedName]
    let issuerKeys: Set<[UInt8]>

    /// Whether the store has no evidence, so that only the options provide some.
    var isNone: Bool { issuerKeys.isEmpty }

    /// The evidence for `certificate` and the other certificates of its group.
    init(on certificate: Certificate, systemAnchors: Bool, in database: SQLDatabase) throws {
        let authorities = try Authorities(above: [certificate], in: database)
        let lists = try StoredLists(by: authorities.issuers, in: database)
        var trust = TrustStore(
            anchors: authorities.all.filter(authorities.anchors.contains),
            intermediates: authorities.all.filter { !authorities.anchors.contains($0) },
            certificateLists: lists.readable,
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
        trust.unreadableLists = lists.unreadable
        trust.responses = try ResponseRecord.responses(about: authorities.all, in: database)
        self.trust = trust
        var seen: Set<[UInt8]> = []
        issuers = ([certificate] + authorities.all).map(\.issuer).filter { seen.insert($0.der).inserted }
        issuerKeys = authorities.issuers
    }

    private init(trust: TrustStore) {
        self.trust = trust
        (issuers, issuerKeys) = ([], [])
    }

    /// No evidence: for a group whose issuer has no CA certificate and no revocation list in the store.
    static func none(systemAnchors: Bool) -> VerdictEvidence {
        VerdictEvidence(trust: TrustStore(systemAnchors: systemAnchors ? SystemAnchors() : nil))
    }
}

/// The evidence for each group of certificates that are validated together. It is read for the first certificate of a
/// group.
struct GroupedEvidence: Sendable {
    private let systemAnchors: Bool
    private let none: VerdictEvidence
    /// The name keys of all CA certificates and list issuers in the store; nil if they were not read.
    private let names: Set<[UInt8]>?
    /// The name hashes of the system's anchors.
    private let systemNames: Set<UInt32>
    private var groups: [VerdictRecord.Group: VerdictEvidence] = [:]

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
        guard !isAlone(record), groups[record.group] == nil else { return }
        groups[record.group] = try VerdictEvidence(on: certificate(), systemAnchors: systemAnchors, in: database)
    }

    /// The evidence for the group of `record`; no evidence if it was not read.
    subscript(_ record: VerdictRecord) -> VerdictEvidence { isAlone(record) ? none : groups[record.group] ?? none }

    /// Whether neither the store nor the system's anchors have a certificate or list with the issuer's name.
    private func isAlone(_ record: VerdictRecord) -> Bool {
        guard let names, record.group.alone == nil, let hash = record.group.issuerHash else { return false }
        return !names.contains(record.group.issuer) && !systemNames.contains(hash)
    }
}
