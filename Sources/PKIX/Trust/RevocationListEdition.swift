#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The position of a list among the lists of one issuer and scope.
///
/// RFC 5280 §5.2.3, §5.2.4
struct RevocationListEdition: Hashable, Sendable {
    /// The CRL Number; nil if the list has no valid one.
    let number: RevocationListNumber?
    /// BaseCRLNumber: the number of the complete list that a delta list changes; nil for a complete list, or if the number is
    /// invalid.
    let baseNumber: RevocationListNumber?
    /// Whether the list contains only the changes since another list.
    let isDelta: Bool
    let thisUpdate: Date
    /// When the next list is due; nil if the list does not say.
    let nextUpdate: Date?

    /// Whether the list has expired at `date`, according to libcrypto's rule.
    func isExpired(at date: Date) -> Bool { nextUpdate.map { $0 <= date } ?? false }

    /// Whether this list may replace `other` at `date`. An expired list replaces neither a current list nor a list that was
    /// issued later. Without this rule, old lists would hide new ones after an authority restarts its numbers.
    private func mayHide(_ other: RevocationListEdition, at date: Date) -> Bool {
        !isExpired(at: date) || other.isExpired(at: date) && thisUpdate >= other.thisUpdate
    }

    /// Whether this list replaces `other` at `date`: it comes after `other`, and `mayHide` is true.
    func replaces(_ other: RevocationListEdition, at date: Date) -> Bool {
        replaces(other) && mayHide(other, at: date)
    }

    /// Whether this list comes after `other`: this list has the higher CRL Number or, if one list has no number, the later
    /// thisUpdate.
    ///
    /// A delta list replaces neither a complete list nor a delta list with an older base, because a delta list does not
    /// repeat the changes before its own base.
    private func replaces(_ other: RevocationListEdition) -> Bool {
        if isDelta {
            guard other.isDelta, let baseNumber, let otherBase = other.baseNumber, baseNumber <= otherBase else {
                return false
            }
        }
        if let number, let otherNumber = other.number, number != otherNumber { return number > otherNumber }
        return thisUpdate > other.thisUpdate
    }

    /// Like `replaces`, for two lists of the same kind: both complete or both delta lists, both with or both without a
    /// number. Only lists of one kind have an order; lists of different kinds may replace each other in a cycle.
    func replacesItsLike(_ other: RevocationListEdition, at date: Date) -> Bool {
        isDelta == other.isDelta && (number == nil) == (other.number == nil) && replaces(other, at: date)
    }

    /// The indices of the editions that are in effect at `date`. All editions have the same issuer and scope. Several
    /// editions can be in effect: lists that are equally new, delta lists with their complete list, and an expired list that
    /// the current list does not replace. The newest list with a number is compared with the newest list without a number.
    static func current(of editions: [RevocationListEdition], at date: Date) -> [Int] {
        let newest = editions.indices.filter { place in
            !editions.contains { $0.replacesItsLike(editions[place], at: date) }
        }
        let complete = newest.map { editions[$0] }.filter { !$0.isDelta }
        return newest.filter { place in !complete.contains { $0.replaces(editions[place], at: date) } }
    }
}
