import ByteStreams
package import SwiftASN1

/// Reads the octets of an OCTET STRING, which may be primitive or consist of nested segments.
///
/// X.690 §8.7
final class OctetStringReader: ByteReader {
    private let reader: BERReader
    /// The number of open constructed strings.
    private var openStrings = 0
    /// The number of remaining octets in the current segment.
    private var left = 0
    /// The error for the next call; nil if there was none.
    private var failure: (any Error)?

    /// Starts with the string that `reader` returns next.
    init(_ reader: BERReader, identifier: ASN1Identifier) throws {
        self.reader = reader
        begin(try reader.enterString(identifier))
    }

    /// Fills the buffer from as many segments as needed: callers take much longer for many small pieces.
    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        if let failure { throw failure }
        var count = 0
        do {
            while count < buffer.count, try hasOctets() {
                var piece = buffer.piece(count..<min(count + left, buffer.count))
                let read = try reader.readRaw(into: &piece)
                left -= read
                count += read
            }
        } catch {
            // The octets before the damage come first.
            guard count > 0 else { throw error }
            failure = error
        }
        return count
    }

    /// Whether octets are left. Goes to the next segment that has some.
    private func hasOctets() throws -> Bool {
        while left == 0 {
            guard openStrings > 0 else { return false }
            if try reader.peek() == nil {
                try reader.leave()
                openStrings -= 1
            } else {
                begin(try reader.enterString(.octetString))
            }
        }
        return true
    }

    private func begin(_ header: BERHeader) {
        if header.isConstructed { openStrings += 1 } else { left = header.length ?? 0 }
    }
}

/// The tag and length of a BER element.
///
/// X.690 §8.1
package struct BERHeader: Sendable {
    package let identifier: ASN1Identifier
    package let isConstructed: Bool
    /// The length of the contents in bytes; nil for indefinite length.
    package let length: Int?
    /// The header as it was encoded.
    package let encoded: [UInt8]
}

extension ASN1Identifier {
    static let endOfContents = ASN1Identifier(tagWithNumber: 0, tagClass: .universal)
}
