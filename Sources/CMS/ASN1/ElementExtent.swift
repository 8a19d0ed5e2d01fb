/// Where a BER element ends, found by reading the headers inside it and nothing else.
///
/// The tree that swift-asn1 builds takes some hundred bytes for each element, so that a few megabytes of empty
/// elements would fill the memory. This walk needs none, and refuses what is too deep or too many beforehand.
package struct ElementExtent {
    /// The length of the element in bytes, its header included.
    package let count: Int

    /// The greatest nesting; swift-asn1's own limit is 50.
    package static let maximumDepth = 48
    /// The greatest number of elements in one tree.
    package static let maximumElements = 200_000

    /// Measures the element that `bytes` begins with; others may follow it.
    package init(of bytes: [UInt8]) throws {
        var position = 0
        var elements = 0
        // The end of each open element; nil for one of indefinite length.
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
        count = position
    }

    /// Identifier and length octets.
    private struct Header {
        let isConstructed: Bool
        let content: Int
        /// Nil if the length is indefinite.
        let end: Int?

        init(_ bytes: [UInt8], at start: Int, limit: Int) throws {
            var position = start
            func byte() throws -> UInt8 {
                guard position < limit else { throw ElementReader.Mismatch(description: "truncated at byte \(start)") }
                defer { position += 1 }
                return bytes[position]
            }
            let identifier = try byte()
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
