#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Chooses, from a large number of lists, the lists that can affect one path. Of the lists with the same scope and signer, only
/// a few are chosen, one or more for each `Role`.
struct RevocationListChoice {
    /// The names of possible list signers for any certificate of the path.
    let names: Set<EncodingKey>

    private let path: [Certificate]
    private let points: [DistributionPoints]
    private let date: Date
    private var chosen: [SeriesRole: [RevocationListEdition]] = [:]
    private var chosenLists: Set<Fingerprint> = []

    /// How a list is relevant to the validation time.
    enum Role: Hashable {
        /// The list was issued at or before the validation time. Certificates on the list are revoked, even if the list
        /// itself has expired.
        case past
        /// The list is the first of those issued after the validation time. Together with the newest list, it shows which
        /// certificates were revoked before that time: one of the two alone may lack an entry.
        case nearest
        /// The list is the last of those issued after the validation time.
        case newest
    }

    /// A list and its relevant properties.
    struct Candidate {
        let list: CertificateList
        let role: Role
        /// The list's scope; nil if the scope is unreadable. Then no other list replaces this list.
        fileprivate let scope: CertificateList.Scope?
        fileprivate let edition: RevocationListEdition?
    }

    private struct SeriesRole: Hashable {
        let role: Role
        let series: SelectedRevocationList.Series
    }

    init(_ path: [Certificate], at date: Date) {
        (self.path, self.date) = (path, date)
        points = path.map(DistributionPoints.init)
        names = Set(path.map(\.issuer.canonical) + points.flatMap { $0.issuers.map(\.canonical) })
    }

    /// The `lists` that may concern the path, in the order of examination: of lists with the same scope and signer, the
    /// list that replaces the others comes first. A list issued after the validation time occurs twice, as `newest` and as
    /// `nearest`.
    func candidates(in lists: [CertificateList]) -> [Candidate] {
        var (past, future): ([Candidate], [Candidate]) = ([], [])
        for list in lists {
            let scope = try? list.scope
            let isFitting = points.contains { $0.mayBe(at: scope?.distributionPoint) }
            guard isFitting || !names.contains(list.issuer.canonical) else { continue }
            let isFuture = list.thisUpdate > date
            let candidate = Candidate(
                list: list,
                role: isFuture ? .newest : .past,
                scope: scope,
                edition: try? list.edition
            )
            if isFuture { future.append(candidate) } else { past.append(candidate) }
        }
        past.sort(by: Self.isNewer)
        future.sort { $0.list.thisUpdate > $1.list.thisUpdate }
        let nearest = future.reversed().map {
            Candidate(list: $0.list, role: .nearest, scope: $0.scope, edition: $0.edition)
        }
        return past + future + nearest
    }

    private static func isNewer(_ one: Candidate, than other: Candidate) -> Bool {
        switch (one.edition?.number, other.edition?.number) {
        case (let number?, let otherNumber?) where number != otherNumber: number > otherNumber
        case (.some, nil): true
        case (nil, .some): false
        default: one.list.thisUpdate > other.list.thisUpdate
        }
    }

    /// Whether a chosen list, signed by a certificate of the path, makes `candidate` redundant. A list by another signer does
    /// not, because an attacker can create an authority with the same name.
    func isSuperseded(_ candidate: Candidate) -> Bool {
        path.contains { isSuperseded(candidate, by: $0) }
    }

    /// Chooses `candidate`, which `signer` signed, unless a chosen list makes it redundant. Returns whether it was chosen.
    mutating func choose(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard !isSuperseded(candidate, by: signer), chosenLists.insert(candidate.list.fingerprint).inserted else {
            return false
        }
        if let scope = candidate.scope, let edition = candidate.edition {
            let seriesRole = SeriesRole(role: candidate.role, series: .init(scope, signer: signer))
            chosen[seriesRole, default: []].append(edition)
        }
        return true
    }

    private func isSuperseded(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard let scope = candidate.scope, let edition = candidate.edition else { return false }
        let seriesRole = SeriesRole(role: candidate.role, series: .init(scope, signer: signer))
        return chosen[seriesRole]?.contains { other in
            switch candidate.role {
            case .past: other.replacesSameKind(edition, at: date)
            // `candidates` sorts these lists so that the newest or nearest comes first and is already chosen.
            case .newest, .nearest: other.isDelta == edition.isDelta && other.thisUpdate != edition.thisUpdate
            }
        } ?? false
    }
}
