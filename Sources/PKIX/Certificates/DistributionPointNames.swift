import SwiftASN1

/// The names in a DistributionPoint or IssuingDistributionPoint.
///
/// RFC 5280 §4.2.1.13, §5.2.5
enum DistributionPointNames {
    /// The number of names in the distribution point; the point itself counts as one.
    static func count(in point: ASN1Node) throws -> Int {
        try point.children().reduce(1) { count, field in
            // distributionPoint and, in a certificate, cRLIssuer contain names; the other fields are bit strings.
            guard case .constructed = field.content else { return count }
            let names = try Array(field.children())
            guard field.identifier == .context(0), let name = names.first else { return count + names.count }
            return try count + Array(name.children()).count
        }
    }

    /// The number of names in the issuingDistributionPoint of a list; 0 if the list has none. The list's extensions begin at
    /// `start`.
    static func count(inListExtensions der: [UInt8], at start: Int) throws -> Int {
        guard let list = try ElementExtent.elements(of: der, at: start, limit: 1).first else { return 0 }
        let extensions = try ElementExtent.elements(of: der, at: list.range.lowerBound, limit: maximumExtensions + 1)
        guard extensions.count <= maximumExtensions else { throw CMSError.limitExceeded("extensions of a list") }
        for item in extensions {
            let fields = try ElementExtent.elements(of: der, at: item.range.lowerBound, limit: 3)
            guard let type = fields.first, der[type.range] == identifier[...], let value = fields.last else { continue }
            guard value.range.count <= maximumBytes else { return maximumBytes }
            return try count(in: ASN1Node.read(ASN1Node.read(der[value.range]).octets()))
        }
        return 0
    }

    /// The encoding of the OID id-ce-issuingDistributionPoint.
    private static let identifier: [UInt8] = [0x06, 0x03, 0x55, 0x1D, 0x1C]
    private static let maximumExtensions = 100
    private static let maximumBytes = 1 << 16
}
