#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The position of a list among the lists of one issuer and scope.
///
/// RFC 5280 §5.2.3, §5.2.4
struct RevocationListEdition: Hashable, Sendable {
    /// Nil if the list has no valid CRL Number.
    let number: RevocationListNumber?
    /// BaseCRLNumber: the complete list that a delta list changes; nil if this is no delta list, or the number is invalid.
    let baseNumber: RevocationListNumber?
    /// Whether the list holds only the changes since another one.
    let isDelta: Bool
    let thisUpdate: Date
    /// When the next list is due; nil if the list does not say.
    let nextUpdate: Date?

    /// Whether the list has expired at `date`, as libcrypto decides it.
    func hasEnded(at date: Date) -> Bool { nextUpdate.map { $0 <= date } ?? false }

    /// Whether this list may replace `other` at `date`. An expired list never replaces a current one, nor one that was made
    /// later: otherwise the old lists of an authority that restarts its numbers would hide the new ones.
    private func mayHide(_ other: RevocationListEdition, at date: Date) -> Bool {
        !hasEnded(at: date) || other.hasEnded(at: date) && thisUpdate >= other.thisUpdate
    }

    /// Whether this list replaces `other` at `date`: it comes after it, and may replace it.
    func replaces(_ other: RevocationListEdition, at date: Date) -> Bool {
        replaces(other) && mayHide(other, at: date)
    }

    /// Whether this list comes after `other`: the higher CRL Number decides, then the later thisUpdate.
    ///
    /// A delta list never replaces a complete one, nor a delta list with an older base: it does not repeat what changed
    /// before its own base.
    private func replaces(_ other: RevocationListEdition) -> Bool {
        if isDelta {
            guard other.isDelta, let baseNumber, let otherBase = other.baseNumber, baseNumber <= otherBase else {
                return false
            }
        }
        if let number, let otherNumber = other.number, number != otherNumber { return number > otherNumber }
        return thisUpdate > other.thisUpdate
    }

    /// The same for two lists of one kind: both complete or both delta lists, both with or both without a number. Only lists of
    /// one kind have an order; others may replace each other in a circle.
    func replacesItsLike(_ other: RevocationListEdition, at date: Date) -> Bool {
        isDelta == other.isDelta && (number == nil) == (other.number == nil) && replaces(other, at: date)
    }

    /// The indices of the editions that count at `date`. All are of one issuer and scope. Several count if they are equally new,
    /// if delta lists belong to a complete list, or if an expired list is not replaced by the current one. The newest with a
    /// number is compared with the newest without one.
    static func current(of editions: [RevocationListEdition], at date: Date) -> [Int] {
        let newest = editions.indices.filter { place in
            !editions.contains { $0.replacesItsLike(editions[place], at: date) }
        }
        let complete = newest.map { editions[$0] }.filter { !$0.isDelta }
        return newest.filter { place in !complete.contains { $0.replaces(editions[place], at: date) } }
    }
}
