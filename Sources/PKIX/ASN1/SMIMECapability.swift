package import SwiftASN1

/// An algorithm for which the owner of a certificate announces support.
///
/// RFC 8551 §2.5.2: an OID and the encoding of its parameters; capabilities are compared by their exact encoding.
public struct SMIMECapability: Hashable, Sendable {
    package let algorithm: AlgorithmIdentifier

    /// The OID of the signed attribute, and of the certificate extension (RFC 4262), that contain capabilities.
    package static let attribute: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 15]

    package init(_ algorithm: AlgorithmIdentifier) { self.algorithm = algorithm }

    /// Reads the capabilities in an attribute value or certificate extension.
    package static func list(_ encoded: [UInt8]) throws -> [SMIMECapability] {
        try BER.parse(encoded).children(expecting: .sequence).map {
            SMIMECapability(try AlgorithmIdentifier(berEncoded: $0))
        }
    }

    /// The DER of an SMIMECapabilities value.
    package static func encode(_ capabilities: [SMIMECapability]) throws -> [UInt8] {
        try der { coder in try coder.serializeSequenceOf(capabilities.map(\.algorithm)) }
    }
}
