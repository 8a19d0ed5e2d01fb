import ByteStreams
import SwiftASN1

/// Where, and by which issuers, the lists that may revoke a certificate are published.
///
/// RFC 5280 §4.2.1.13
struct DistributionPoints {
    /// The URIs of all distribution points; nil if a distribution point has no name or a name of another kind, so that URIs
    /// cannot identify it.
    private(set) var locations: Set<[UInt8]>? = []
    /// The issuers of lists that differ from the certificate's issuer.
    private(set) var issuers: [DistinguishedName] = []

    /// The distribution points of `certificate`; empty if that extension is absent.
    init(of certificate: Certificate) {
        guard Self.mentionsExtension(in: certificate.der.octets), let fields = try? CertificateFields(certificate.der),
            let value = fields.extensionValue([2, 5, 29, 31])
        else { return }
        do { try read(value) } catch { locations = nil }
    }

    /// Whether the bytes of the extension's identifier occur anywhere in `der`. If not, nothing has to be parsed again.
    private static func mentionsExtension(in der: Span<UInt8>) -> Bool {
        var position = 0
        while let found = der.firstOffset(of: 0x55, from: position) {
            if der.has([0x55, 0x1D, 0x1F], at: found) { return true }
            position = found + 1
        }
        return false
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

    /// Whether a list with this IssuingDistributionPoint may come from one of these distribution points. False only if the
    /// list names other places.
    ///
    /// RFC 5280 §5.2.5, §6.3.3 (b) (2) (i)
    func mayBe(at point: [UInt8]?) -> Bool {
        guard let locations, let point, var fields = try? ElementReader(ASN1Node.read(point)),
            let name = try? fields.optional(.context(0))?.onlyChild(), let own = try? Self.uris(name)
        else { return true }
        return !locations.isDisjoint(with: own)
    }

    /// The URIs in a DistributionPointName; nil if it contains names of other kinds.
    private static func uris(_ name: ASN1Node) throws -> [[UInt8]]? {
        guard name.identifier == .context(0) else { return nil }
        let names = try name.children()
        guard names.allSatisfy({ $0.identifier == .context(6) }) else { return nil }
        return try names.map { try $0.octets() }
    }
}

extension Certificate {
    /// The issuers of revocation lists that the certificate names, without the certificate's own issuer.
    ///
    /// RFC 5280 §4.2.1.13 (cRLIssuer)
    package var revocationListIssuers: [DistinguishedName] {
        Array(DistributionPoints(of: self).issuers.prefix(RevocationServices.maximumCount))
    }
}
