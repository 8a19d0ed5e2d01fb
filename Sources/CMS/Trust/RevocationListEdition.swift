import Foundation

/// Where a list stands in the sequence of the lists of one issuer and scope.
///
/// RFC 5280 §5.2.3, §5.2.4
struct RevocationListEdition: Hashable, Sendable {
    /// Nil if the list has no CRL Number, or one that is none.
    let number: RevocationListNumber?
    /// The number of the complete list that a delta list changes; nil if it is none, or not said properly.
    let baseNumber: RevocationListNumber?
    /// Whether the list holds only the changes since another one.
    let isDelta: Bool
    let thisUpdate: Date

    /// Whether this list counts and `other` does not: the higher CRL Number decides, then the later thisUpdate.
    ///
    /// A delta list never replaces a complete one, nor a delta list with an older base: it does not repeat what changed
    /// before its own base.
    func replaces(_ other: RevocationListEdition) -> Bool {
        if isDelta {
            guard other.isDelta, let baseNumber, let otherBase = other.baseNumber, baseNumber <= otherBase else {
                return false
            }
        }
        if let number, let otherNumber = other.number, number != otherNumber { return number > otherNumber }
        return thisUpdate > other.thisUpdate
    }

    /// The same, where both are complete or delta lists, both with or without a number. Only among these does one order
    /// hold: lists with and without a number may replace each other in a circle.
    func replacesItsLike(_ other: RevocationListEdition) -> Bool {
        isDelta == other.isDelta && (number == nil) == (other.number == nil) && replaces(other)
    }

    /// The places of those editions, all of one issuer and scope, that count: several in a tie, and delta lists beside a
    /// complete one. The newest with a number is compared with the newest without one.
    static func current(of editions: [RevocationListEdition]) -> [Int] {
        let newest = editions.indices.filter { place in !editions.contains { $0.replacesItsLike(editions[place]) } }
        let complete = newest.map { editions[$0] }.filter { !$0.isDelta }
        return newest.filter { place in !complete.contains { $0.replaces(editions[place]) } }
    }
}
