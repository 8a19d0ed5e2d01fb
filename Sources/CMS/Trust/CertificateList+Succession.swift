import SwiftASN1

extension CertificateList {
    /// Whether this list counts in the place of `older`: it has the higher CRL Number, or else is later; it is by the same
    /// key, and about the same certificates. Delta lists are compared with each other alone.
    ///
    /// RFC 5280 §5.2.1, §5.2.3, §5.2.4, §5.2.5
    public func supersedes(_ older: CertificateList) -> Bool {
        guard issuer.matches(older.issuer), let own = try? scope, let other = try? older.scope,
            let edition = try? edition, let olderEdition = try? older.edition, edition.isDelta == olderEdition.isDelta
        else { return false }
        return own == other && edition.replaces(olderEdition)
    }

    /// Which certificates it is about, and which key it says that it is signed with.
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

    /// Where it stands among the lists of its scope. A number that is given twice is none.
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
                thisUpdate: thisUpdate
            )
        }
    }

    /// The key identifier of the key that it says it is signed with (RFC 5280 §5.2.1); nil if it does not say.
    var authorityKeyIdentifier: [UInt8]? {
        guard let value = try? extensions.value(ofExtension: [2, 5, 29, 35]),
            var fields = try? ElementReader(ASN1Node.read(value))
        else { return nil }
        return try? fields.optional(.context(0))?.octets()
    }

    /// The encoded `Extension` elements; the entries are passed over unread.
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
    /// The value of the first of these `Extension` elements that is of `type`; nil if there is none that can be read.
    ///
    /// RFC 5280 §4.1
    func value(ofExtension type: ASN1ObjectIdentifier) -> [UInt8]? { values(ofExtension: type).first ?? nil }

    /// The value of each of these `Extension` elements that is of `type`; nil for one that cannot be read.
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
