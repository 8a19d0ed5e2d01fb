package import ByteStreams
import PKIX
package import SwiftASN1

/// Reads BER of any structure from start to end through one window.
///
/// The caller enters constructed elements, reads small elements as a whole to parse them with swift-asn1, and streams the
/// octets of the large one. Every length is checked against the surrounding elements before it is used. Only inside an element
/// of indefinite length that is read as a whole, the lengths are checked afterwards.
package final class BERReader {
    /// The maximum nesting of elements (swift-asn1's own limit is 50).
    static let maximumDepth = 48
    /// The maximum size in bytes of an element that is read as a whole.
    static let maximumElement = 16 * 1024 * 1024

    private let upstream: any ByteReader
    private let window = Window()
    private var buffered = 0..<0
    private var position = 0
    /// The end of each open element; nil for an element of indefinite length.
    private var ends: [Int?] = []
    private var peeked: BERHeader?

    package init(_ upstream: any ByteReader) { self.upstream = upstream }

    /// The next header inside the innermost open element; nil at that element's end. The element is not entered.
    package func peek() throws -> BERHeader? {
        if let peeked { return peeked }
        guard try !isAtEnd() else { return nil }
        let header = try readHeader()
        if header.identifier == .endOfContents { throw malformed("stray end-of-contents octets") }
        if let length = header.length { try checkFits(length) }
        peeked = header
        return header
    }

    /// Enters the next element, which must be constructed and have the tag `identifier`.
    package func enter(_ identifier: ASN1Identifier) throws {
        guard let header = try peek() else { throw malformed("an element is missing") }
        guard header.identifier == identifier, header.isConstructed else { throw malformed("unexpected element") }
        guard ends.count < Self.maximumDepth else { throw CMSError.limitExceeded("ASN.1 depth \(Self.maximumDepth)") }
        peeked = nil
        ends.append(header.length.map { position + $0 })
    }

    /// Leaves the innermost open element, which must have been read to its end.
    package func leave() throws {
        guard try peek() == nil else { throw malformed("unexpected element at the end of another") }
        if case .some(.none) = ends.last { try skipEndOfContents() }
        ends.removeLast()
    }

    /// Whether the input ends here; false if bytes follow the outermost element.
    package func isExhausted() throws -> Bool { try !fill(1) }

    /// Reads the next element as a whole and returns its original bytes.
    package func readElement() throws -> [UInt8] {
        guard let header = try peek() else { throw malformed("an element is missing") }
        peeked = nil
        var bytes = header.encoded
        try appendContents(of: header, to: &bytes, depth: ends.count + 1)
        return bytes
    }

    /// Skips the next element, whatever its size.
    package func skipElement() throws {
        guard let header = try peek() else { throw malformed("an element is missing") }
        guard header.length == nil else { return try skipContents(of: header) }
        try enter(header.identifier)
        while try peek() != nil { try skipElement() }
        try leave()
    }

    /// Reads the next element and parses it with swift-asn1.
    package func readNode() throws -> ASN1Node {
        let bytes = try readElement()
        return try parsing(.cms) { try ASN1Node.read(bytes) }
    }

    /// Reads the next element if it has the tag `identifier`; nil otherwise.
    package func readNode(if identifier: ASN1Identifier) throws -> ASN1Node? {
        guard try peek()?.identifier == identifier else { return nil }
        return try readNode()
    }

    /// Enters a primitive or constructed string with the tag `identifier`.
    package func enterString(_ identifier: ASN1Identifier) throws -> BERHeader {
        guard let header = try peek(), header.identifier == identifier else { throw malformed("unexpected element") }
        peeked = nil
        if header.isConstructed || header.length == nil {
            guard header.isConstructed else { throw malformed("indefinite length in a primitive element") }
            guard ends.count < Self.maximumDepth else {
                throw CMSError.limitExceeded("ASN.1 depth \(Self.maximumDepth)")
            }
            ends.append(header.length.map { position + $0 })
        }
        return header
    }

    /// Reads up to `buffer.count` raw bytes.
    package func readRaw(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        if buffered.isEmpty {
            let count = try window.fill(from: upstream)
            buffered = 0..<count
            guard count > 0 else { throw malformed("truncated") }
        }
        let (window, count) = (window, min(buffer.count, buffered.count))
        buffer.copy(window[buffered.prefix(count)])
        advance(count)
        return count
    }

    /// The error for bytes that are not BER, or not the expected BER.
    func malformed(_ why: String) -> CMSError { .malformed(.cms, why) }
}

extension BERReader {
    /// Whether the innermost open element has no more contents.
    private func isAtEnd() throws -> Bool {
        guard let end = ends.last else { return try !fill(1) }
        if let end {
            guard position <= end else { throw malformed("an element is longer than the one around it") }
            return position == end
        }
        guard try fill(2) else { throw malformed("truncated") }
        return window[buffered.lowerBound] == 0 && window[buffered.lowerBound + 1] == 0
    }

    private func skipEndOfContents() throws {
        guard try fill(2) else { throw malformed("truncated") }
        try checkFits(2)
        advance(2)
    }

    private func checkFits(_ length: Int) throws {
        let (end, overflow) = position.addingReportingOverflow(length)
        guard !overflow else { throw malformed("length out of range") }
        for case let limit? in ends where end > limit { throw malformed("an element is longer than the one around it") }
    }

    private func readHeader() throws -> BERHeader {
        var encoded: [UInt8] = []
        let first = try nextByte(&encoded)
        var number = UInt(first & 0x1F)
        if number == 0x1F {
            number = 0
            var byte: UInt8
            repeat {
                byte = try nextByte(&encoded)
                guard encoded.count <= 5 else { throw malformed("tag out of range") }
                number = number << 7 | UInt(byte & 0x7F)
            } while byte & 0x80 != 0
        }
        let tagClass: ASN1Identifier.TagClass =
            switch first >> 6 {
            case 0: .universal
            case 1: .application
            case 2: .contextSpecific
            default: .private
            }
        let lengthByte = try nextByte(&encoded)
        var length: Int? = Int(lengthByte)
        if lengthByte == 0x80 {
            length = nil
        } else if lengthByte > 0x80 {
            var value = 0
            for _ in 0..<(lengthByte & 0x7F) {
                guard value < 1 << 48 else { throw malformed("length out of range") }
                value = value << 8 | Int(try nextByte(&encoded))
            }
            length = value
        }
        return BERHeader(
            identifier: ASN1Identifier(tagWithNumber: number, tagClass: tagClass),
            isConstructed: first & 0x20 != 0,
            length: length,
            encoded: encoded
        )
    }

    private func nextByte(_ encoded: inout [UInt8]) throws -> UInt8 {
        guard try fill(1) else { throw malformed("truncated") }
        let byte = window[buffered.lowerBound]
        advance(1)
        encoded.append(byte)
        return byte
    }

    /// Appends the contents of an element whose header was just read, including end-of-contents octets.
    private func appendContents(of header: BERHeader, to bytes: inout [UInt8], depth: Int) throws {
        guard depth <= Self.maximumDepth else { throw CMSError.limitExceeded("ASN.1 depth \(Self.maximumDepth)") }
        if let length = header.length {
            guard length <= Self.maximumElement - bytes.count else { throw CMSError.limitExceeded("element size") }
            var left = length
            while left > 0 {
                guard try fill(1) else { throw malformed("truncated") }
                let (window, count) = (window, min(left, buffered.count))
                bytes.append(contentsOf: window[buffered.prefix(count)])
                advance(count)
                left -= count
            }
            return
        }
        guard header.isConstructed else { throw malformed("indefinite length in a primitive element") }
        while true {
            let inner = try readHeader()
            bytes += inner.encoded
            guard bytes.count <= Self.maximumElement else { throw CMSError.limitExceeded("element size") }
            if inner.identifier == .endOfContents, inner.length == 0 { return }
            try appendContents(of: inner, to: &bytes, depth: depth + 1)
        }
    }

    private func skipContents(of header: BERHeader) throws {
        peeked = nil
        var left = header.length ?? 0
        while left > 0 {
            guard try fill(1) else { throw malformed("truncated") }
            let count = min(left, buffered.count)
            advance(count)
            left -= count
        }
    }

    /// Makes at least `count` bytes available in the window; false if the input ends before that.
    private func fill(_ count: Int) throws -> Bool {
        while buffered.count < count {
            if buffered.isEmpty {
                buffered = 0..<0
            } else if buffered.lowerBound > 0 {
                window.moveToFront(buffered)
                buffered = 0..<buffered.count
            }
            let read = try window.fill(buffered.upperBound..<window.count, from: upstream)
            guard read > 0 else { return false }
            buffered = buffered.lowerBound..<buffered.upperBound + read
        }
        return true
    }

    private func advance(_ count: Int) {
        position += count
        buffered = buffered.lowerBound + count..<buffered.upperBound
    }
}
