package import SwiftASN1

/// Reads the elements of a constructed value in order; accepts BER.
package struct ElementReader {
    /// The bytes do not have the expected structure.
    package struct Mismatch: Error, CustomStringConvertible {
        package let description: String
    }

    private var rest: ArraySlice<ASN1Node>

    /// Opens `node`, which must be constructed and have the given identifier.
    package init(_ node: ASN1Node, _ identifier: ASN1Identifier = .sequence) throws {
        guard node.identifier == identifier else {
            throw Mismatch(description: "expected \(identifier), found \(node.identifier)")
        }
        rest = try node.children()[...]
    }

    /// The elements that have not been read yet.
    package var remaining: ArraySlice<ASN1Node> { rest }

    /// Reads the next element, whatever its identifier.
    package mutating func next() throws -> ASN1Node {
        guard let node = rest.popFirst() else { throw Mismatch(description: "an element is missing") }
        return node
    }

    /// Reads the next element, which must have the given identifier.
    package mutating func next(_ identifier: ASN1Identifier) throws -> ASN1Node {
        let node = try next()
        guard node.identifier == identifier else {
            throw Mismatch(description: "expected \(identifier), found \(node.identifier)")
        }
        return node
    }

    /// Reads the next element if it has the given identifier; otherwise reads nothing and returns nil.
    package mutating func optional(_ identifier: ASN1Identifier) -> ASN1Node? {
        rest.first?.identifier == identifier ? rest.popFirst() : nil
    }
}

extension ASN1Node {
    /// Parses `bytes`, which must be exactly one element, after checking its size limits.
    package static func read(_ bytes: some Collection<UInt8>) throws -> ASN1Node {
        try BER.parse(bounded(bytes))
    }

    /// Parses `bytes`, which must be exactly one element with tags and lengths encoded as in DER.
    static func readDER(_ bytes: [UInt8]) throws -> ASN1Node { try DER.parse(bounded(bytes)) }

    private static func bounded(_ bytes: some Collection<UInt8>) throws -> [UInt8] {
        let bytes = Array(bytes)
        guard try ElementExtent(of: bytes).count == bytes.count else {
            throw ElementReader.Mismatch(description: "bytes follow the structure")
        }
        return bytes
    }

    /// The elements of a constructed value.
    package func children() throws -> [ASN1Node] {
        guard case .constructed(let nodes) = content else {
            throw ElementReader.Mismatch(description: "\(identifier) is not constructed")
        }
        return Array(nodes)
    }

    /// The only element of a constructed value, as in an explicit tag.
    package func onlyChild() throws -> ASN1Node {
        let nodes = try children()
        guard nodes.count == 1 else {
            throw ElementReader.Mismatch(description: "\(identifier) holds \(nodes.count) elements instead of one")
        }
        return nodes[0]
    }

    /// The content octets of a primitive element.
    package func primitive() throws -> ArraySlice<UInt8> {
        guard case .primitive(let bytes) = content else {
            throw ElementReader.Mismatch(description: "\(identifier) is not primitive")
        }
        return bytes
    }

    /// The value of an OCTET STRING with any tag; BER's constructed form is accepted.
    package func octets() throws -> [UInt8] {
        switch content {
        case .primitive(let bytes): return Array(bytes)
        case .constructed(let nodes):
            var octets: [UInt8] = []
            for node in nodes {
                guard node.identifier == .octetString else {
                    throw ElementReader.Mismatch(description: "\(node.identifier) inside an OCTET STRING")
                }
                octets += try node.octets()
            }
            return octets
        }
    }

    /// The value of a BIT STRING that has no unused bits.
    package func bits() throws -> [UInt8] {
        let bytes = try primitive()
        guard bytes.first == 0 else {
            throw ElementReader.Mismatch(description: "a BIT STRING is empty or has unused bits")
        }
        return Array(bytes.dropFirst())
    }

    /// The value of an INTEGER, which must lie between 0 and `limit`, and be less than 2^56.
    package func integer(upTo limit: Int = .max) throws -> Int {
        let bytes = try primitive()
        guard let first = bytes.first, first < 0x80, bytes.drop(while: { $0 == 0 }).count < 8 else {
            throw ElementReader.Mismatch(description: "an INTEGER is negative or too big")
        }
        let value = bytes.reduce(0) { $0 << 8 | Int($1) }
        guard value <= limit else { throw ElementReader.Mismatch(description: "an INTEGER is greater than \(limit)") }
        return value
    }

    /// The value of an OBJECT IDENTIFIER.
    package func objectIdentifier() throws -> ASN1ObjectIdentifier {
        try ASN1ObjectIdentifier(berEncoded: self)
    }
}
