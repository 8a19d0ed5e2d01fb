import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
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

    /// Whether this list comes after `other`: this list has the higher CRL Number or, if a number is missing or both are equal,
    /// the later thisUpdate.
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

    /// Like `replaces`, but false unless the two lists are of the same kind: both complete or both delta lists, both with or
    /// both without a number. Only lists of one kind have an order; lists of different kinds may replace each other in a cycle.
    func replacesSameKind(_ other: RevocationListEdition, at date: Date) -> Bool {
        isDelta == other.isDelta && (number == nil) == (other.number == nil) && replaces(other, at: date)
    }

    /// The indices of the editions that are in effect at `date`. All editions have the same issuer and scope. Several
    /// editions can be in effect: lists that are equally new, delta lists with their complete list, and an expired list that
    /// the current list does not replace. The newest list with a number is compared with the newest list without a number.
    static func current(of editions: [RevocationListEdition], at date: Date) -> [Int] {
        let newest = editions.indices.filter { place in
            !editions.contains { $0.replacesSameKind(editions[place], at: date) }
        }
        let complete = newest.map { editions[$0] }.filter { !$0.isDelta }
        return newest.filter { place in !complete.contains { $0.replaces(editions[place], at: date) } }
    }
}

/// A CRL Number or BaseCRLNumber: a non-negative INTEGER that may be too large for an `Int`.
///
/// RFC 5280 §5.2.3, §5.2.4
struct RevocationListNumber: Hashable, Sendable {
    /// The octets of the number in big-endian order, without leading zeros.
    private let digits: [UInt8]

    /// RFC 5280 allows 20 octets; a sign octet may precede them.
    private static let maximumCount = 20

    /// Reads the value of an extension; nil unless the value is a non-negative INTEGER of at most 20 octets without its sign
    /// octet.
    init?(_ value: [UInt8]) {
        guard let node = try? ASN1Node.read(value), node.identifier == .integer, let bytes = try? node.primitive(),
            let first = bytes.first, first & 0x80 == 0, bytes.count <= Self.maximumCount + 1
        else { return nil }
        digits = Array(bytes.drop { $0 == 0 })
        guard digits.count <= Self.maximumCount else { return nil }
    }
}

extension RevocationListNumber: Comparable {
    static func < (one: RevocationListNumber, other: RevocationListNumber) -> Bool {
        guard one.digits.count == other.digits.count else { return one.digits.count < other.digits.count }
        return one.digits.lexicographicallyPrecedes(other.digits)
    }
}

extension CertificateList {
    /// Whether this list replaces `older` at `date`: both lists name the same key and scope, and this list has the higher CRL
    /// Number or, if a number is missing or both are equal, the later thisUpdate. Delta lists are compared only with delta
    /// lists. An expired list replaces neither a current list nor a list that was issued later.
    ///
    /// RFC 5280 §5.2.1, §5.2.3, §5.2.4, §5.2.5
    package func supersedes(_ older: CertificateList, at date: Date) -> Bool {
        guard let pair = editions(with: older) else { return false }
        return pair.own.replaces(pair.other, at: date)
    }

    /// Whether this list is current at `date` and `ended`, a list that names the same key and scope, has expired. CRL Numbers
    /// are ignored.
    package func outlasts(_ ended: CertificateList, at date: Date) -> Bool {
        guard let pair = editions(with: ended) else { return false }
        return thisUpdate <= date && !pair.own.isExpired(at: date) && pair.other.isExpired(at: date)
    }

    /// The editions of this list and `other`; nil if the two cannot be compared.
    private func editions(
        with other: CertificateList
    ) -> (own: RevocationListEdition, other: RevocationListEdition)? {
        guard issuer.matches(other.issuer), let own = try? scope, let otherScope = try? other.scope, own == otherScope,
            let edition = try? edition, let otherEdition = try? other.edition, edition.isDelta == otherEdition.isDelta
        else { return nil }
        return (edition, otherEdition)
    }

    /// The certificates that a list covers, and the key that the list names as its signer's key.
    struct Scope: Hashable {
        let issuer: EncodingKey
        let distributionPoint: [UInt8]?
        let keyIdentifier: [UInt8]?
    }

    var scope: Scope {
        get throws {
            let extensions = try extensions
            return Scope(
                issuer: issuer.canonical,
                distributionPoint: extensions.value(ofExtension: [2, 5, 29, 28]),
                keyIdentifier: extensions.value(ofExtension: [2, 5, 29, 35])
            )
        }
    }

    /// The list's position among the lists of its scope. If an extension with a number occurs twice,
    /// both are ignored.
    var edition: RevocationListEdition {
        get throws {
            let extensions = try extensions
            func number(_ type: ASN1ObjectIdentifier) -> RevocationListNumber? {
                let values = extensions.values(ofExtension: type)
                return values.count == 1 ? values[0].flatMap(RevocationListNumber.init) : nil
            }
            return RevocationListEdition(
                number: number([2, 5, 29, 20]),
                baseNumber: number([2, 5, 29, 27]),
                isDelta: !extensions.values(ofExtension: [2, 5, 29, 27]).isEmpty,
                thisUpdate: thisUpdate,
                nextUpdate: nextUpdate
            )
        }
    }

    /// The identifier of the key that the list names as its signer's key (RFC 5280 §5.2.1); nil if the list names none,
    /// or the extension is unreadable.
    var authorityKeyIdentifier: [UInt8]? {
        guard let value = try? extensions.value(ofExtension: [2, 5, 29, 35]),
            var fields = try? ElementReader(ASN1Node.read(value))
        else { return nil }
        return try? fields.optional(.context(0))?.octets()
    }

    /// The encoded `Extension` elements; the entries are skipped.
    ///
    /// RFC 5280 §5.1
    var extensions: [ASN1Node] {
        get throws {
            guard let signed = try ElementExtent.elements(of: der, limit: 1).first,
                let last = try ElementExtent.elements(of: der, at: signed.range.lowerBound, limit: 7).last,
                last.identifier == 0xA0
            else { return [] }
            return Array(try ElementReader(ASN1Node.read(der[last.range]).onlyChild()).remaining)
        }
    }
}

extension Sequence<ASN1Node> {
    /// The value of the first `Extension` element of the given type; nil if there is none or the element is unreadable.
    ///
    /// RFC 5280 §4.1
    func value(ofExtension type: ASN1ObjectIdentifier) -> [UInt8]? { values(ofExtension: type).first ?? nil }

    /// The values of all `Extension` elements of the given type; nil in place of an unreadable element.
    func values(ofExtension type: ASN1ObjectIdentifier) -> [[UInt8]?] {
        compactMap { node -> [UInt8]?? in
            guard var fields = try? ElementReader(node), (try? fields.next().objectIdentifier()) == type else {
                return nil
            }
            _ = fields.optional(.boolean)
            return .some(try? fields.next(.octetString).octets())
        }
    }
}
