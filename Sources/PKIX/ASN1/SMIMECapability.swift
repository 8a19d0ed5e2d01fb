package import SwiftASN1

/// One algorithm that the owner of a certificate announces to read.
///
/// RFC 8551 §2.5.2: an OID with the very parameter encoding that it is compared by.
public struct SMIMECapability: Hashable, Sendable {
    package let algorithm: AlgorithmIdentifier

    /// The attribute, and the extension of a certificate (RFC 4262), that hold capabilities.
    package static let attribute: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 15]

    package init(_ algorithm: AlgorithmIdentifier) { self.algorithm = algorithm }

    /// The capabilities of an attribute value or certificate extension.
    package static func list(_ encoded: [UInt8]) throws -> [SMIMECapability] {
        try BER.parse(encoded).children(.sequence).map { SMIMECapability(try AlgorithmIdentifier(berEncoded: $0)) }
    }

    /// The DER of SMIMECapabilities.
    package static func encode(_ capabilities: [SMIMECapability]) throws -> [UInt8] {
        try der { coder in try coder.serializeSequenceOf(capabilities.map(\.algorithm)) }
    }
}
