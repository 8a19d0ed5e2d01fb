#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Chooses, among very many lists, those that can affect one path. Of lists with the same scope only the newest count.
struct RevocationListChoice {
    /// The names of possible signers of lists for a certificate of the path.
    let names: Set<EncodingKey>

    private let path: [Certificate]
    private let points: [DistributionPoints]
    private let date: Date
    private var taken: [Mark: [RevocationListEdition]] = [:]
    private var takenLists: Set<Fingerprint> = []

    /// The use of a list at the time.
    enum Role: Hashable {
        /// It was issued by then. A certificate on it was revoked, even if the list itself has expired.
        case past
        /// The first and the last list that were issued later: a certificate that was revoked by then is on one of them.
        case nearest
        case newest
    }

    /// A list, and what is to be known of it.
    struct Candidate {
        let list: CertificateList
        let role: Role
        /// Nil if that cannot be read: then no other list replaces it.
        fileprivate let scope: CertificateList.Scope?
        fileprivate let edition: RevocationListEdition?
    }

    private struct Mark: Hashable {
        let role: Role
        let series: SelectedRevocationList.Series
    }

    init(_ path: [Certificate], at date: Date) {
        (self.path, self.date) = (path, date)
        points = path.map(DistributionPoints.init)
        names = Set(path.map(\.issuer.canonical) + points.flatMap { $0.issuers.map(\.canonical) })
    }

    /// The `lists` that may concern the path, in the order to examine them: of one series the one that replaces the
    /// others comes first.
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

    private static func isNewer(_ one: Candidate, _ other: Candidate) -> Bool {
        switch (one.edition?.number, other.edition?.number) {
        case (let number?, let otherNumber?) where number != otherNumber: number > otherNumber
        case (.some, nil): true
        case (nil, .some): false
        default: one.list.thisUpdate > other.list.thisUpdate
        }
    }

    /// Whether a chosen list makes `candidate` redundant, and was signed by a certificate of the path. A list by another signer does not
    /// replace it, because an attacker can make an authority of the same name.
    func isSuperseded(_ candidate: Candidate) -> Bool {
        path.contains { isSuperseded(candidate, by: $0) }
    }

    /// Takes `candidate`, which `signer` signed, unless a taken one makes it redundant.
    mutating func take(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard !isSuperseded(candidate, by: signer), takenLists.insert(candidate.list.fingerprint).inserted else {
            return false
        }
        if let scope = candidate.scope, let edition = candidate.edition {
            let mark = Mark(role: candidate.role, series: .init(scope, signer: signer))
            taken[mark, default: []].append(edition)
        }
        return true
    }

    private func isSuperseded(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard let scope = candidate.scope, let edition = candidate.edition else { return false }
        let mark = Mark(role: candidate.role, series: .init(scope, signer: signer))
        return taken[mark]?.contains { other in
            switch candidate.role {
            case .past: other.replacesItsLike(edition, at: date)
            // Later lists are sorted by time, so the first is the right one.
            case .newest, .nearest: other.isDelta == edition.isDelta && other.thisUpdate != edition.thisUpdate
            }
        } ?? false
    }
}
