import Foundation

/// Chooses among very many lists those that can tell something of one path: of lists about the same certificates only the
/// newest count.
struct RevocationListChoice {
    /// The names in which somebody may speak for a certificate of the path.
    let names: Set<EncodingKey>

    private let path: [Certificate]
    private let points: [DistributionPoints]
    private let date: Date
    private var marks: Set<Mark> = []
    private var taken: Set<Fingerprint> = []

    /// What a list can be good for at the time.
    enum Role: Hashable {
        /// It holds.
        case current
        /// It no longer holds, but who is on it was revoked.
        case expired
        /// The first, and the last, that was made later: who was revoked by then is on one of them.
        case nearest
        case newest
    }

    /// A list, and what is to be known of it.
    struct Candidate {
        let list: CertificateList
        let role: Role
        /// Nil if that cannot be read: then no other list replaces it.
        fileprivate let scope: CertificateList.Scope?
    }

    private struct Mark: Hashable {
        let role: Role
        let scope: CertificateList.Scope
        let signer: Fingerprint
    }

    init(_ path: [Certificate], at date: Date) {
        (self.path, self.date) = (path, date)
        points = path.map(DistributionPoints.init)
        names = Set(path.map(\.issuer.canonical) + points.flatMap { $0.issuers.map(\.canonical) })
    }

    /// Those of `lists` that may concern the path, in the order in which they are to be looked at.
    func candidates(in lists: [CertificateList]) -> [Candidate] {
        var (past, future): ([Candidate], [Candidate]) = ([], [])
        for list in lists.sorted(by: { $0.thisUpdate > $1.thisUpdate }) {
            let scope = try? list.scope
            let isFitting = points.contains { $0.mayBe(at: scope?.distributionPoint) }
            guard isFitting || !names.contains(list.issuer.canonical) else { continue }
            if list.thisUpdate > date {
                future.append(Candidate(list: list, role: .newest, scope: scope))
            } else {
                let isCurrent = list.nextUpdate.map { $0 >= date } ?? true
                past.append(Candidate(list: list, role: isCurrent ? .current : .expired, scope: scope))
            }
        }
        let nearest = future.reversed().map { Candidate(list: $0.list, role: .nearest, scope: $0.scope) }
        return past + future + nearest
    }

    /// Whether one that a certificate of the path signed, and that was taken, says all that `candidate` says: another's word
    /// would not do, as anybody can make an authority of the same name.
    func isSuperseded(_ candidate: Candidate) -> Bool {
        path.contains { isSuperseded(candidate, by: $0) }
    }

    /// Takes `candidate`, which `signer` signed, unless one that was taken says all that it says.
    mutating func take(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard !isSuperseded(candidate, by: signer), taken.insert(candidate.list.fingerprint).inserted else {
            return false
        }
        if let scope = candidate.scope {
            marks.insert(Mark(role: candidate.role, scope: scope, signer: signer.fingerprint))
        }
        return true
    }

    private func isSuperseded(_ candidate: Candidate, by signer: Certificate) -> Bool {
        guard let scope = candidate.scope else { return false }
        let roles: [Role] = candidate.role == .expired ? [.current, .expired] : [candidate.role]
        return roles.contains { marks.contains(Mark(role: $0, scope: scope, signer: signer.fingerprint)) }
    }
}
