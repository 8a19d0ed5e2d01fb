import Foundation

/// Secrets that must not be found anywhere after a command: passphrases and keys, in the forms in which they are stored in
/// memory.
public struct Secrets {
    private struct Piece {
        let name: String
        let bytes: [UInt8]
    }

    /// Parts of the secrets, because a leftover may be incomplete. Each part is too long to occur by chance.
    private var pieces: [[Piece]] = [[Piece]](repeating: [], count: 1 << 16)
    /// Whether the entry of `pieces` is not empty.
    private var isTaken = [Bool](repeating: false, count: 1 << 16)
    private static let count = 12

    public init() {}

    /// Adds a passphrase, as UTF-8 and as UTF-16.
    public mutating func add(_ name: String, text: String) {
        let text = Array(text.utf8)
        for start in stride(from: 0, through: text.count - Self.count, by: 4) {
            let piece = Array(text[start..<start + Self.count])
            for form in [piece, piece.flatMap { [0, $0] }, piece.flatMap { [$0, 0] }] { add(name, form) }
        }
    }

    /// Adds a key, or a number of a key, in both byte orders.
    public mutating func add(_ name: String, number: [UInt8]) {
        let number = Array(number.drop { $0 == 0 })
        for bytes in [number, number.reversed()] {
            for start in stride(from: 0, through: bytes.count - Self.count, by: Self.count) {
                add(name, Array(bytes[start..<start + Self.count]))
            }
        }
    }

    private mutating func add(_ name: String, _ bytes: [UInt8]) {
        let slot = Self.slot(bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
        pieces[slot].append(Piece(name: name, bytes: bytes))
        isTaken[slot] = true
    }

    /// The secrets of which a part is in `bytes`, and the offsets.
    public func found(in bytes: [UInt8]) -> [(name: String, offset: Int)] {
        var found: [String: Int] = [:]
        bytes.withUnsafeBufferPointer { bytes in
            isTaken.withUnsafeBufferPointer { isTaken in
                var last: UInt32 = 0
                var index = 0
                // This loop runs over millions of bytes in unoptimised code.
                while index < bytes.count {
                    last = last << 8 | UInt32(truncatingIfNeeded: bytes[index])
                    index += 1
                    guard isTaken[Self.slot(last)], index >= 4 else { continue }
                    for piece in pieces[Self.slot(last)] where found[piece.name] == nil {
                        if bytes[(index - 4)...].starts(with: piece.bytes) { found[piece.name] = index - 4 }
                    }
                }
            }
        }
        return found.map { ($0.key, $0.value) }.sorted { $0.1 < $1.1 }
    }

    /// The index of pieces that begin with these four bytes.
    private static func slot(_ start: UInt32) -> Int { Int((start &* 2_654_435_761) >> 16) }
}
