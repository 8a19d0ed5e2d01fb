package import SwiftASN1

/// The tag and length of a BER element.
///
/// X.690 §8.1
package struct BERHeader: Sendable {
    package let identifier: ASN1Identifier
    package let isConstructed: Bool
    /// The length of the contents in bytes; nil for indefinite length.
    package let length: Int?
    /// The header as it was encoded.
    package let encoded: [UInt8]
}

extension ASN1Identifier {
    static let endOfContents = ASN1Identifier(tagWithNumber: 0, tagClass: .universal)
}
