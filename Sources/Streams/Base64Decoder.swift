/// Decodes base64 text as it is read (RFC 4648 §4).
///
/// Line ends and blanks are skipped wherever they stand; any other byte outside the alphabet, and text after the
/// padding, is `StreamError.malformedBase64`. Missing padding is tolerated and noted.
public final class Base64Decoder: ByteReader {
    /// Whether the text ended without the padding that its length calls for.
    public private(set) var lacksPadding = false

    private let upstream: any ByteReader
    private let input = Window()
    private var unread = 0..<0
    private var quantum: UInt32 = 0
    private var characters = 0
    private var paddings = 0
    private var pending: [UInt8] = []
    private var isAtEnd = false

    private let noteMissingPadding: (() -> Void)?

    /// A reader of the bytes that the text of `upstream` stands for.
    ///
    /// - Parameter noteMissingPadding: called at the end of a text that lacks its padding.
    public init(_ upstream: any ByteReader, noteMissingPadding: (() -> Void)? = nil) {
        self.upstream = upstream
        self.noteMissingPadding = noteMissingPadding
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var written = 0
        while written < buffer.count {
            if !pending.isEmpty {
                buffer[written] = pending.removeFirst()
                written += 1
                continue
            }
            if unread.isEmpty {
                guard !isAtEnd else { break }
                let count = try upstream.read(into: input.bytes)
                unread = 0..<count
                if count == 0 {
                    isAtEnd = true
                    try finish()
                    continue
                }
            }
            if characters == 0, paddings == 0 { written += decodeQuanta(into: buffer, from: written) }
            if !unread.isEmpty, written < buffer.count { try decodeCharacter() }
        }
        return written
    }

    /// Decodes whole quanta while nothing but the alphabet and line ends between quanta are met; returns how many bytes
    /// were written.
    private func decodeQuanta(into buffer: UnsafeMutableRawBufferPointer, from start: Int) -> Int {
        guard let source = input.bytes.baseAddress, let target = buffer.baseAddress else { return 0 }
        return Base64Alphabet.pairValues.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return 0 }
            func value(_ pair: UInt64) -> UInt64 { UInt64(table[Int(pair & 0xFFFF)]) }
            var (from, to) = (unread.lowerBound, start)
            // Six bytes are stored as eight, and three as four; what is too much belongs to the next quantum.
            let (lastFrom, lastTo) = (unread.upperBound - 8, buffer.count - 8)
            while from <= lastFrom, to <= lastTo {
                let text = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: from, as: UInt64.self))
                let (first, second) = (value(text), value(text >> 16))
                let (third, fourth) = (value(text >> 32), value(text >> 48))
                if (first | second | third | fourth) < 1 << 15 {
                    let bits = first << 52 | second << 40 | third << 28 | fourth << 16
                    target.storeBytes(of: bits.bigEndian, toByteOffset: to, as: UInt64.self)
                    (from, to) = (from &+ 8, to &+ 6)
                } else if (first | second) < 1 << 15 {
                    let bits = UInt32(truncatingIfNeeded: first << 20 | second << 8)
                    target.storeBytes(of: bits.bigEndian, toByteOffset: to, as: UInt32.self)
                    (from, to) = (from &+ 4, to &+ 3)
                } else {
                    let lineEnd = text & 0xFFFF == 0x0A0D ? 2 : text & 0xFF == 0x0A ? 1 : 0
                    guard lineEnd > 0 else { break }
                    from += lineEnd
                }
            }
            unread = from..<unread.upperBound
            return to - start
        }
    }

    private func decodeCharacter() throws {
        let value = Base64Alphabet.values[Int(input.bytes[unread.lowerBound])]
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
