/// The extent of a BER element, found by reading only the headers of the elements inside it.
///
/// swift-asn1 needs about a hundred bytes of memory for each element, so a few megabytes of empty elements would exhaust the
/// memory. This scan needs no memory. It rejects too many elements and too deep nesting before swift-asn1 parses the bytes.
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

        /// Reads the header at `start`. The element must end before `limit`, which may be beyond the end of `bytes`.
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
