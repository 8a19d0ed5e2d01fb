import Foundation
import PKIX

/// What the store has for judging one group of certificates: nothing else of it can matter to any of them.
struct VerdictEvidence: Sendable {
    /// Anchors, intermediates, revocation lists and answers by the names above the group; without pins.
    let trust: TrustStore
    /// The names of all issuers that were met, and their `matchingKey`s.
    let issuers: [DistinguishedName]
    let issuerKeys: Set<[UInt8]>

    /// Whether there is nothing but what the options bring.
    var isNone: Bool { issuerKeys.isEmpty }

    /// The evidence on `certificate` and all others of its group.
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

    /// The evidence on a group whose issuer's name no authority and no list of the store has.
    static func none(systemAnchors: Bool) -> VerdictEvidence {
        VerdictEvidence(trust: TrustStore(systemAnchors: systemAnchors ? SystemAnchors() : nil))
    }
}

/// The evidence on each group of certificates that are judged together, read when the first of a group is met.
struct GroupedEvidence: Sendable {
    private let systemAnchors: Bool
    private let none: VerdictEvidence
    /// The names that authorities and revocation lists of the store have; nil if they were not read.
    private let names: Set<[UInt8]>?
    /// By which the system's folder names its anchors.
    private let systemNames: Set<UInt32>
    private var groups: [VerdictRecord.Group: VerdictEvidence] = [:]

    /// The most groups that are looked up one by one. For more, the names of all authorities and lists are read once.
    private static let fewGroups = 16

    /// - Parameter count: how many certificates there may be.
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

    /// Reads the evidence on the group of `record`, unless it was read before.
    ///
    /// - Parameter certificate: reads the record's certificate, where it is needed.
    mutating func add(
        _ record: VerdictRecord,
        in database: SQLDatabase,
        _ certificate: () throws -> Certificate
    ) throws {
        guard !isAlone(record), groups[record.group] == nil else { return }
        groups[record.group] = try VerdictEvidence(on: certificate(), systemAnchors: systemAnchors, in: database)
    }

    /// The evidence on the group of `record`; none if it was not read.
    subscript(_ record: VerdictRecord) -> VerdictEvidence { isAlone(record) ? none : groups[record.group] ?? none }

    /// Whether nothing in the store, nor among the system's anchors, bears the name of the issuer.
    private func isAlone(_ record: VerdictRecord) -> Bool {
        guard let names, record.group.alone == nil, let hash = record.group.issuerHash else { return false }
        return !names.contains(record.group.issuer) && !systemNames.contains(hash)
    }
}
