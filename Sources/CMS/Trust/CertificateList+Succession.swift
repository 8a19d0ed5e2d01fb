import SwiftASN1

extension CertificateList {
    /// Whether this list says all that `older` says and more: it is later, by the same key, and about the same
    /// certificates. Lists of changes since another one are compared with each other alone.
    ///
    /// RFC 5280 §5.2.1, §5.2.4, §5.2.5
    public func supersedes(_ older: CertificateList) -> Bool {
        guard thisUpdate > older.thisUpdate, issuer.matches(older.issuer), let own = try? scope,
            let other = try? older.scope
        else { return false }
        return own == other
    }

    /// Whose key signed it, and which certificates it is about.
    struct Scope: Hashable {
        let issuer: EncodingKey
        let keyIdentifier: [UInt8]?
        let distributionPoint: [UInt8]?
        let isDelta: Bool
    }

    var scope: Scope {
        get throws {
            let extensions = try extensions
            return Scope(
                issuer: issuer.canonical,
                keyIdentifier: extensions.value(ofExtension: [2, 5, 29, 35]),
                distributionPoint: extensions.value(ofExtension: [2, 5, 29, 28]),
                isDelta: extensions.value(ofExtension: [2, 5, 29, 27]) != nil
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
    func value(ofExtension type: ASN1ObjectIdentifier) -> [UInt8]? {
        for node in self {
            guard var fields = try? ElementReader(node), (try? fields.next().objectIdentifier()) == type else {
                continue
            }
            _ = fields.optional(.boolean)
            return try? fields.next(.octetString).octets()
        }
        return nil
    }
}
