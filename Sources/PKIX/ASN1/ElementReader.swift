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

/// The extent of a BER element, found by reading only the headers of the elements inside it.
///
/// swift-asn1 needs about a hundred bytes of memory for each element, so a few megabytes of empty elements would exhaust the
/// memory. This scan needs hardly any memory. It rejects too many elements and too deep nesting before swift-asn1 parses the
/// bytes.
package struct ElementExtent {
    /// The length of the element in bytes, including its header.
    package let count: Int
    /// The number of elements, including the outermost one.
    package let elements: Int

    /// The maximum nesting depth; swift-asn1's own limit is 50.
    package static let maximumDepth = 48
    /// The maximum number of elements.
    package static let maximumElements = 200_000

    /// Measures the element at `start`; other bytes may follow it.
    package init(of bytes: [UInt8], at start: Int = 0) throws {
        var position = start
        var elements = 0
        // The end of each enclosing element; nil for an element of indefinite length.
        var open: [Int?] = []
        repeat {
            let limit = open.last.flatMap { $0 } ?? open.lazy.compactMap { $0 }.last ?? bytes.count
            if open.last == .some(nil), position + 2 <= limit, bytes[position] == 0, bytes[position + 1] == 0 {
                position += 2
                open.removeLast()
            } else {
                let header = try Header(bytes, at: position, limit: limit)
                elements += 1
                guard elements <= Self.maximumElements else { throw CMSError.limitExceeded("ASN.1 elements") }
                position = header.content
                if header.isConstructed {
                    guard open.count < Self.maximumDepth else { throw CMSError.limitExceeded("ASN.1 depth") }
                    open.append(header.end)
                } else if let end = header.end {
                    position = end
                }
            }
            while let last = open.last, let end = last, position == end { open.removeLast() }
        } while !open.isEmpty
        count = position - start
        self.elements = elements
    }

    /// The ranges of the first `limit` elements inside the constructed element at `start`. Later elements are not read, so a
    /// revocation list with a million entries costs no more than an empty one.
    static func elements(of bytes: [UInt8], at start: Int = 0, limit: Int) throws -> [(
        identifier: UInt8, range: Range<Int>
    )] {
        let outer = try Header(bytes, at: start, limit: bytes.count)
        guard outer.isConstructed else { throw ElementReader.Mismatch(description: "not constructed") }
        var elements: [(identifier: UInt8, range: Range<Int>)] = []
        var position = outer.content
        let end = outer.end ?? bytes.count
        while elements.count < limit, position < end, outer.end != nil || bytes[position] != 0 {
            let header = try Header(bytes, at: position, limit: end)
            let next = try header.end ?? position + ElementExtent(of: bytes, at: position).count
            elements.append((header.identifier, position..<next))
            position = next
        }
        return elements
    }

    /// The identifier and length octets of an element.
    package struct Header {
        /// The first octet. For a tag below 31 this octet is the whole identifier.
        package let identifier: UInt8
        let isConstructed: Bool
        package let content: Int
        /// The end of the element; nil if its length is indefinite.
        package let end: Int?

        /// Reads the header at `start`. The element must not extend beyond `limit`, which may be greater than the number of
        /// `bytes`.
        package init(_ bytes: [UInt8], at start: Int, limit: Int) throws {
            var position = start
            func byte() throws -> UInt8 {
                guard position < min(limit, bytes.count) else {
                    throw ElementReader.Mismatch(description: "truncated at byte \(start)")
                }
                defer { position += 1 }
                return bytes[position]
            }
            identifier = try byte()
            isConstructed = identifier & 0x20 != 0
            if identifier & 0x1f == 0x1f { while try byte() & 0x80 != 0 {} }
            let first = try byte()
            var length = Int(first)
            if first >= 0x80 {
                length = 0
                for _ in 0..<(first & 0x7f) {
                    let next = try byte()
                    guard length < 1 << 48 else { throw ElementReader.Mismatch(description: "length at byte \(start)") }
                    length = length << 8 | Int(next)
                }
            }
            content = position
            guard first != 0x80 else {
                guard isConstructed else { throw ElementReader.Mismatch(description: "length at byte \(start)") }
                end = nil
                return
            }
            guard length <= limit - position else {
                throw ElementReader.Mismatch(description: "truncated at byte \(start)")
            }
            end = position + length
        }
    }
}

extension ASN1Identifier {
    /// A context-specific tag, written `[n]` in the RFCs.
    package static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
