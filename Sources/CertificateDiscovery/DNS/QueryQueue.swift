/// The order in which the names of a message are looked up: one of each domain in turn. Only a part of the names of one
/// domain is looked up at a time, so that silent name servers of one domain do not use up the resolver's capacity.
package struct QueryQueue {
    /// The maximum number of names of one domain, and of all domains, that are looked up at a time.
    package static let maximumOpenInDomain = 20
    package static let maximumOpen = 400

    /// The domain of each name.
    private let domains: [String]
    /// The names of each domain that still wait, in the order in which their domains get a turn.
    private var waiting: [(domain: String, names: ArraySlice<Int>)] = []
    /// The next domain in `waiting`.
    private var position = 0
    private var openCount = 0
    private var openInDomain: [String: Int] = [:]

    /// - Parameter names: the names of SMIMEA records.
    package init(_ names: [String]) {
        domains = names.map { SMIMEAName.domain(of: $0) }
        var places: [String: Int] = [:]
        for (index, domain) in domains.enumerated() {
            if let place = places[domain] {
                waiting[place].names.append(index)
            } else {
                places[domain] = waiting.count
                waiting.append((domain, [index]))
            }
        }
    }

    /// The position of a name whose lookup may begin; nil if all have begun, or others must end first.
    package mutating func next() -> Int? {
        guard openCount < Self.maximumOpen else { return nil }
        for _ in waiting.indices {
            let place = position
            position = (position + 1) % waiting.count
            let domain = waiting[place].domain
            guard openInDomain[domain, default: 0] < Self.maximumOpenInDomain,
                let index = waiting[place].names.popFirst()
            else { continue }
            openCount += 1
            openInDomain[domain, default: 0] += 1
            return index
        }
        return nil
    }

    /// Notes that the lookup of the name at `index` has ended.
    package mutating func end(_ index: Int) {
        openCount -= 1
        openInDomain[domains[index], default: 1] -= 1
    }

    /// The outage of each name in `unanswered`.
    ///
    /// A name that was looked up for less than half of the time had no turn, unless its own domain is the cause: one of
    /// the domain's names had a turn, and none was answered.
    ///
    /// - Parameters:
    ///   - hadTurn: the names that were looked up for at least half of the time.
    ///   - answered: the names whose lookup succeeded.
    package func outages(
        of unanswered: [Int],
        hadTurn: Set<Int>,
        answered: Set<Int>
    ) -> [Int: DiscoveryOutage] {
        let silent = Set(unanswered.filter(hadTurn.contains).map { domains[$0] })
            .subtracting(answered.map { domains[$0] })
        return Dictionary(
            uniqueKeysWithValues: unanswered.map { index -> (Int, DiscoveryOutage) in
                let isLate = hadTurn.contains(index) || silent.contains(domains[index])
                return (index, isLate ? .timeLimit : .noTurn)
            }
        )
    }
}
