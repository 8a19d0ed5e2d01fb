/// Decodes base64 text while it is read (RFC 4648 §4).
///
/// Line ends and blanks are skipped anywhere. Any other byte outside the alphabet, and any text after the padding, causes
/// `StreamError.malformedBase64`. Missing padding is accepted; `lacksPadding` reports it.
package final class Base64Decoder: ByteReader {
    /// Whether the text ended without the padding that its length requires.
    package private(set) var lacksPadding = false

    private let upstream: any ByteReader
    private let input = Window()
    private var unread = 0..<0
    private var quantum: UInt32 = 0
    private var characters = 0
    private var paddings = 0
    private var pending: [UInt8] = []
    private var isAtEnd = false

    private let noteMissingPadding: (() -> Void)?

    /// A reader of the bytes that the base64 text of `upstream` encodes.
    ///
    /// - Parameter noteMissingPadding: called at the end if the text lacks its padding.
    package init(_ upstream: any ByteReader, noteMissingPadding: (() -> Void)? = nil) {
        self.upstream = upstream
        self.noteMissingPadding = noteMissingPadding
    }

    package func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        var written = 0
        while written < buffer.count {
            if !pending.isEmpty {
                buffer[written] = pending.removeFirst()
                written += 1
                continue
            }
            if unread.isEmpty {
                guard !isAtEnd else { break }
                let count = try input.fill(from: upstream)
                unread = 0..<count
                if count == 0 {
                    isAtEnd = true
                    try finish()
                    continue
                }
            }
            if characters == 0, paddings == 0 { written += decodeQuanta(into: &buffer, from: written) }
            if !unread.isEmpty, written < buffer.count { try decodeCharacter() }
        }
        return written
    }

    /// Decodes complete groups of four characters and line ends between the groups, and stops before any other byte. Returns
    /// the number of bytes written.
    private func decodeQuanta(into buffer: inout MutableSpan<UInt8>, from start: Int) -> Int {
        let text = UnsafeRawBufferPointer(rebasing: input.storage[unread])
        let (read, written) = buffer.withUnsafeMutableBytes {
            Self.decodeQuanta(of: text, into: UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
        }
        unread = unread.lowerBound + read..<unread.upperBound
        return written
    }

    /// Decodes groups between pointers. This is a separate function, so that the compiler keeps all variables in registers.
    @inline(never)
    private static func decodeQuanta(
        of text: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> (read: Int, written: Int) {
        guard let start = text.baseAddress, let target = output.baseAddress, text.count >= 8, output.count >= 8 else {
            return (0, 0)
        }
        return Base64Alphabet.pairValues.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return (0, 0) }
            var (from, to) = (start, target)
            // Each store writes four bytes, of which three are valid. The fourth one is overwritten by the next group.
            let (lastFrom, lastTo) = (start + (text.count - 8), target + (output.count - 8))
            func value(_ offset: Int) -> UInt32 {
                let pair = UInt16(littleEndian: from.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                return UInt32(table[Int(pair)])
            }
            func store(_ high: UInt32, low: UInt32, at offset: Int) {
                to.storeBytes(of: (high << 20 | low << 8).bigEndian, toByteOffset: offset, as: UInt32.self)
            }
            while from <= lastFrom, to <= lastTo {
                let (first, second, third, fourth) = (value(0), value(2), value(4), value(6))
                if (first | second | third | fourth) < 1 << 15 {
                    store(first, low: second, at: 0)
                    store(third, low: fourth, at: 3)
                    (from, to) = (from + 8, to + 6)
                } else if (first | second) < 1 << 15 {
                    store(first, low: second, at: 0)
                    (from, to) = (from + 4, to + 3)
                } else {
                    let next = UInt16(littleEndian: from.loadUnaligned(as: UInt16.self))
                    let lineEnd = next == 0x0A0D ? 2 : next & 0xFF == 0x0A ? 1 : 0
                    guard lineEnd > 0 else { break }
                    from += lineEnd
                }
            }
            return (from - start, to - target)
        }
    }

    private func decodeCharacter() throws {
        let value = Base64Alphabet.values[Int(input[unread.lowerBound])]
        unread = unread.lowerBound + 1..<unread.upperBound
        switch value {
        case Base64Alphabet.skipped: return
        case Base64Alphabet.padding:
            paddings += 1
            guard characters + paddings <= 4, characters >= 2 else { throw StreamError.malformedBase64 }
        case 0..<64:
            guard paddings == 0 else { throw StreamError.malformedBase64 }
            quantum = quantum << 6 | UInt32(value)
            characters += 1
            if characters == 4 {
                pending = [quantum.byte(2), quantum.byte(1), quantum.byte(0)]
                (quantum, characters) = (0, 0)
            }
        default: throw StreamError.malformedBase64
        }
    }

    private func finish() throws {
        lacksPadding = characters > 0 && characters + paddings != 4
        if lacksPadding { noteMissingPadding?() }
        switch characters {
        case 0: break
        case 2: pending = [UInt8(truncatingIfNeeded: quantum >> 4)]
        case 3: pending = [UInt8(truncatingIfNeeded: quantum >> 10), UInt8(truncatingIfNeeded: quantum >> 2)]
        default: throw StreamError.malformedBase64
        }
        characters = 0
    }
}

extension UInt32 {
    fileprivate func byte(_ index: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: self >> (8 * index)) }
}

extension ByteStream {
    /// The bytes that the base64 text of this stream encodes (RFC 4648 §4; line ends and blanks are skipped).
    ///
    /// - Parameter noteMissingPadding: called at the end if the text lacks its padding.
    package func base64Decoded(noteMissingPadding: (@Sendable () -> Void)? = nil) -> ByteStream {
        ByteStream { Base64Decoder(try makeReader(), noteMissingPadding: noteMissingPadding) }
    }
}
