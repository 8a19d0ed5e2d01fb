import SwiftASN1

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
