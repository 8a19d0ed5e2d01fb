package import SwiftASN1

/// `AlgorithmIdentifier`: an algorithm and its parameters, with the parameters in their original encoding.
///
/// RFC 5280 §4.1.1.2
package struct AlgorithmIdentifier: Hashable, Sendable {
    /// The algorithm.
    package let algorithm: ASN1ObjectIdentifier
    /// The encoding of the parameters; nil if absent. Some algorithms distinguish absent parameters from NULL.
    package let parameters: [UInt8]?

    /// The DER of an ASN.1 NULL.
    package static let null: [UInt8] = [0x05, 0x00]

    package init(_ algorithm: ASN1ObjectIdentifier, parameters: [UInt8]? = nil) {
        self.algorithm = algorithm
        self.parameters = parameters
    }
}

extension AlgorithmIdentifier {
    /// The DER of the identifier.
    package func encoded() throws -> [UInt8] { try PKIX.der { try $0.serialize(self) } }
}

extension AlgorithmIdentifier: BERImplicitlyTaggable, DERImplicitlyTaggable {
    package static var defaultIdentifier: ASN1Identifier { .sequence }

    package init(berEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        self = try BER.sequence(node, identifier: identifier) { nodes in
            let algorithm = try ASN1ObjectIdentifier(berEncoded: &nodes)
            return AlgorithmIdentifier(algorithm, parameters: nodes.next().map { Array($0.encodedBytes) })
        }
    }

    package init(derEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        try self.init(berEncoded: node, withIdentifier: identifier)
    }

    package func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            try coder.serialize(algorithm)
            if let parameters { coder.serializeRawBytes(parameters) }
        }
    }
}
