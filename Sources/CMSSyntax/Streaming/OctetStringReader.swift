import ByteStreams
import SwiftASN1

/// Reads the octets of an OCTET STRING, which may be primitive or consist of nested segments.
///
/// X.690 §8.7
final class OctetStringReader: ByteReader {
    private let reader: BERReader
    /// The number of open constructed strings.
    private var openStrings = 0
    /// The number of remaining octets in the current segment.
    private var left = 0

    /// Starts with the string that `reader` returns next.
    init(_ reader: BERReader, identifier: ASN1Identifier) throws {
        self.reader = reader
        begin(try reader.enterString(identifier))
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        while left == 0 {
            guard openStrings > 0 else { return 0 }
            if try reader.peek() == nil {
                try reader.leave()
                openStrings -= 1
            } else {
                begin(try reader.enterString(.octetString))
            }
        }
        var piece = buffer.piece(0..<min(left, buffer.count))
        let count = try reader.readRaw(into: &piece)
        left -= count
        return count
    }

    private func begin(_ header: BERHeader) {
        if header.isConstructed { openStrings += 1 } else { left = header.length ?? 0 }
    }
}
