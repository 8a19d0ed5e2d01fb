import SwiftASN1

/// Where the lists that may revoke a certificate are published, and by whom.
///
/// RFC 5280 §4.2.1.13
struct DistributionPoints {
    /// The URIs of all distribution points; nil if a point has no name or another kind of name, so that URIs cannot identify
    /// it.
    private(set) var locations: Set<[UInt8]>? = []
    /// The issuers of lists, if they differ from the certificate's issuer.
    private(set) var issuers: [DistinguishedName] = []

    /// The distribution points of `certificate`; empty without that extension.
    init(of certificate: Certificate) {
        guard Self.mayBe(in: certificate.der), let fields = try? CertificateFields(certificate.der),
            let value = fields.extensionValue([2, 5, 29, 31])
        else { return }
        do { try read(value) } catch { locations = nil }
    }

    /// Whether the bytes of the extension's identifier are anywhere in `der`: where they are not, nothing has to be parsed again.
    private static func mayBe(in der: [UInt8]) -> Bool {
        der.indices.dropLast(2).contains { der[$0] == 0x55 && der[$0 + 1] == 0x1D && der[$0 + 2] == 0x1F }
    }

    private mutating func read(_ value: [UInt8]) throws {
        for point in try ElementReader(ASN1Node.read(value)).remaining {
            var fields = try ElementReader(point)
            let uris = try fields.optional(.context(0)).flatMap { try Self.uris($0.onlyChild()) }
            if let uris { locations?.formUnion(uris) } else { locations = nil }
            _ = fields.optional(.context(1))
            for name in try fields.optional(.context(2))?.children() ?? [] where name.identifier == .context(4) {
                issuers.append(try DistinguishedName(name.onlyChild()))
            }
        }
    }

    /// Whether a list may come from one of these points, given its IssuingDistributionPoint: false only if the latter names
    /// other places.
    ///
    /// RFC 5280 §5.2.5, §6.3.3 (b) (2) (i)
    func mayBe(at point: [UInt8]?) -> Bool {
        guard let locations, let point, var fields = try? ElementReader(ASN1Node.read(point)),
            let name = try? fields.optional(.context(0))?.onlyChild(), let own = try? Self.uris(name)
        else { return true }
        return !locations.isDisjoint(with: own)
    }

    /// The URIs in a DistributionPointName; nil if it contains other names.
    private static func uris(_ name: ASN1Node) throws -> [[UInt8]]? {
        guard name.identifier == .context(0) else { return nil }
        let names = try name.children()
        guard names.allSatisfy({ $0.identifier == .context(6) }) else { return nil }
        return try names.map { try $0.octets() }
    }
}

extension Certificate {
    /// The issuers of revocation lists named by the certificate, without its own issuer.
    ///
    /// RFC 5280 §4.2.1.13 (cRLIssuer)
    package var revocationListIssuers: [DistinguishedName] {
        Array(DistributionPoints(of: self).issuers.prefix(RevocationServices.maximumCount))
    }
}
