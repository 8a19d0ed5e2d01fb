package import SwiftASN1

/// An attribute of a CMS structure: a type and a set of values, with each value in its original encoding.
///
/// RFC 5652 §5.3
package struct Attribute: Sendable {
    package let type: ASN1ObjectIdentifier
    /// The values, each in its original encoding.
    package let values: [[UInt8]]

    package init(_ type: ASN1ObjectIdentifier, values: [[UInt8]]) {
        self.type = type
        self.values = values
    }

    /// The attribute's value if there is exactly one value; nil otherwise.
    package var onlyValue: [UInt8]? { values.count == 1 ? values.first : nil }
}

extension Attribute: BERImplicitlyTaggable, DERImplicitlyTaggable {
    package static var defaultIdentifier: ASN1Identifier { .sequence }

    package init(berEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        self = try BER.sequence(node, identifier: identifier) { nodes in
            let type = try ASN1ObjectIdentifier(berEncoded: &nodes)
            guard let set = nodes.next() else { throw CMSError.malformed(.cms, "attribute without values") }
            return Attribute(type, values: try set.children(expecting: .set).map { Array($0.encodedBytes) })
        }
    }

    package init(derEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        try self.init(berEncoded: node, withIdentifier: identifier)
    }

    package func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            try coder.serialize(type)
            coder.appendConstructedNode(identifier: .set) { coder in
                for value in values { coder.serializeRawBytes(value) }
            }
        }
    }
}

extension Array<Attribute> {
    /// The DER of the SET OF these attributes, sorted by their encodings (X.690 §11.6).
    package func derSet() throws -> [UInt8] { Self.derSet(of: try sortedDER()) }

    /// The DER of a SET OF with the `contents` from `sortedDER`. `identifier` replaces the identifier of SET if the type has an
    /// implicit tag.
    package static func derSet(of contents: [UInt8], _ identifier: ASN1Identifier = .set) -> [UInt8] {
        DERFrame.header(identifier, isConstructed: true, length: contents.count) + contents
    }

    /// The DER of the attributes one after the other, sorted as in a SET OF.
    package func sortedDER() throws -> [UInt8] {
        let encoded = try map { attribute in try der { try $0.serialize(attribute) } }
        return Array<UInt8>(encoded.sorted { $0.lexicographicallyPrecedes($1) }.joined())
    }

    /// The attributes with the given type.
    package func all(_ type: ASN1ObjectIdentifier) -> [Attribute] { filter { $0.type == type } }
}

extension ASN1Node {
    /// The elements inside this element, which must be constructed and have the identifier `identifier`.
    package func children(expecting identifier: ASN1Identifier) throws -> ASN1NodeCollection {
        guard self.identifier == identifier, case .constructed(let nodes) = content else {
            throw CMSError.malformed(.cms, "unexpected element")
        }
        return nodes
    }
}
