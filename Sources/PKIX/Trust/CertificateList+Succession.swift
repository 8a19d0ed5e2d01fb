import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension CertificateList {
    /// Whether this list replaces `older` at `date`: both lists have the same key and scope, and this list has the higher CRL
    /// Number or, if the lists have no numbers, the later date. Delta lists are compared only with delta lists. An expired
    /// list replaces neither a current list nor a list that was issued later.
    ///
    /// RFC 5280 §5.2.1, §5.2.3, §5.2.4, §5.2.5
    package func supersedes(_ older: CertificateList, at date: Date) -> Bool {
        guard let pair = editions(with: older) else { return false }
        return pair.own.replaces(pair.other, at: date)
    }

    /// Whether this list is current at `date` and `ended`, a list of the same key and scope, has expired. CRL Numbers are
    /// ignored.
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

    /// The list's position among the lists of its scope. If the list contains two CRL Numbers, both are ignored.
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

    /// The identifier of the key that the list names as its signer's key (RFC 5280 §5.2.1); nil if the list names none.
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
