import SwiftASN1

/// The URLs in a certificate where its issuer publishes revocations. They are unverified.
///
/// RFC 5280 §4.2.1.13, §4.2.1.15, §4.2.2.1
package struct RevocationServices: Hashable, Sendable {
    /// The URLs of OCSP responders.
    package private(set) var responders: [String] = []
    /// The URLs of revocation lists, delta lists last.
    package private(set) var lists: [String] = []

    /// The maximum number of URLs of each kind that are read from a certificate.
    package static let maximumCount = 4

    fileprivate init() {}

    fileprivate init(_ extensions: [ASN1Node]) {
        var deltas: [String] = []
        for node in extensions {
            guard var fields = try? ElementReader(node),
                let type = try? fields.next(.objectIdentifier).objectIdentifier()
            else { continue }
            _ = fields.optional(.boolean)
            guard let octets = try? fields.next(.octetString).octets(), let value = try? ASN1Node.read(octets) else {
                continue
            }
            switch type {
            case [1, 3, 6, 1, 5, 5, 7, 1, 1]: responders += (try? Self.responders(value)) ?? []
            case [2, 5, 29, 31]: lists += (try? Self.distributionPoints(value)) ?? []
            case [2, 5, 29, 46]: deltas += (try? Self.distributionPoints(value)) ?? []
            default: break
            }
        }
        responders = Array(responders.prefix(Self.maximumCount))
        lists = Array(lists.prefix(Self.maximumCount)) + Array(deltas.prefix(Self.maximumCount))
    }

    /// The URLs of the OCSP access descriptions in an AuthorityInfoAccessSyntax.
    private static func responders(_ node: ASN1Node) throws -> [String] {
        try ElementReader(node).remaining.compactMap { access in
            var fields = try ElementReader(access)
            guard try fields.next(.objectIdentifier).objectIdentifier() == [1, 3, 6, 1, 5, 5, 7, 48, 1] else {
                return nil
            }
            return try url(fields.next())
        }
    }

    /// The URLs of the full names in CRLDistributionPoints. Names relative to the issuer have no URL.
    fileprivate static func distributionPoints(_ node: ASN1Node) throws -> [String] {
        try ElementReader(node).remaining.flatMap { point -> [String] in
            var fields = try ElementReader(point)
            guard let names = try fields.optional(.context(0))?.onlyChild(), names.identifier == .context(0) else {
                return []
            }
            return try names.children().compactMap(url)
        }
    }

    /// The uniformResourceIdentifier of a GeneralName; nil if the name is of another kind.
    private static func url(_ name: ASN1Node) throws -> String? {
        guard name.identifier == .context(6) else { return nil }
        let bytes = try name.octets()
        return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

extension Certificate {
    /// The URLs where the certificate's issuer publishes revocations.
    package var revocationServices: RevocationServices {
        (try? CertificateFields(der)).map { RevocationServices($0.extensions) } ?? RevocationServices()
    }
}

extension CertificateList {
    /// The URLs of the delta lists, as this list names them. They are unverified.
    ///
    /// RFC 5280 §5.2.6
    package var deltaLists: [String] {
        guard let value = try? extensions.value(ofExtension: [2, 5, 29, 46]), let node = try? ASN1Node.read(value)
        else {
            return []
        }
        return Array(((try? RevocationServices.distributionPoints(node)) ?? []).prefix(RevocationServices.maximumCount))
    }
}
