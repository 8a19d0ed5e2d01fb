import ByteStreams
package import SwiftASN1

/// The DER before and after content that is streamed.
///
/// Built from the inside out: each `wrap` adds a constructed element around the existing bytes. The content's length is known
/// in advance, so all lengths are definite.
package struct DERFrame: Sendable {
    /// The bytes before the content.
    package private(set) var prefix: [UInt8] = []
    /// The bytes after the content.
    package private(set) var suffix: [UInt8] = []
    /// The length of the content in bytes.
    package let contentCount: Int

    /// A primitive element with `identifier` whose value is the content.
    package init(_ identifier: ASN1Identifier, contentCount: Int) {
        self.contentCount = contentCount
        prefix = Self.header(identifier, isConstructed: false, length: contentCount)
    }

    /// The content alone, without an enclosing element.
    package init(contentCount: Int) { self.contentCount = contentCount }

    /// Adds a constructed element around all existing bytes. `before` and `after` are complete elements inside the new
    /// element, before the existing bytes and after them.
    package mutating func wrap(_ identifier: ASN1Identifier, before: [UInt8] = [], after: [UInt8] = []) {
        suffix += after
        let length = before.count + prefix.count + contentCount + suffix.count
        prefix = Self.header(identifier, isConstructed: true, length: length) + before + prefix
    }

    /// The total number of bytes, content included.
    package var count: Int { prefix.count + contentCount + suffix.count }

    /// The DER of a tag (below 31) and a definite length.
    package static func header(_ identifier: ASN1Identifier, isConstructed: Bool, length: Int) -> [UInt8] {
        let tagClass: UInt8 =
            switch identifier.tagClass {
            case .universal: 0x00
            case .application: 0x40
            case .contextSpecific: 0x80
            case .private: 0xC0
            }
        let tag = tagClass | (isConstructed ? 0x20 : 0) | UInt8(truncatingIfNeeded: identifier.tagNumber & 0x1F)
        guard length > 127 else { return [tag, UInt8(length)] }
        let octets = Array(UInt64(length).bigEndianBytes.drop { $0 == 0 })
        return [tag, 0x80 | UInt8(octets.count)] + octets
    }
}

/// The DER that `body` writes.
package func der(_ body: (inout DER.Serializer) throws -> Void) rethrows -> [UInt8] {
    var serializer = DER.Serializer()
    try body(&serializer)
    return serializer.serializedBytes
}
