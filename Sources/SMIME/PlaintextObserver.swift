import Foundation
import MIME
import Streams

/// Looks at plaintext as it passes: is it a MIME entity, and what may its parts be like?
package final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var tail: [UInt8] = []

    /// Whether something like `Content-Transfer-Encoding: binary` was met; it may stand anywhere.
    package private(set) var mayHoldBinary = false
    /// Whether something like the parameter `hp-legacy-display` was met; it may stand anywhere.
    package private(set) var mayHoldLegacyDisplay = false

    /// The largest header that is looked at.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer) {
        // Where the header ends is looked for afterwards: until the check nothing may take a time that depends on it.
        head.append(contentsOf: bytes.prefix(Self.headLimit - head.count))
        guard !mayHoldBinary || !mayHoldLegacyDisplay else { return }
        // The words may lie across two windows.
        tail.append(contentsOf: bytes.prefix(Self.reach))
        tail.withUnsafeBytes { lookFor($0) }
        lookFor(bytes)
        tail = bytes.count < Self.reach ? Array(tail.suffix(Self.reach)) : Array(bytes.suffix(Self.reach))
    }

    /// Whether the plaintext begins as an entity does: with a field or with the empty line, or not at all. Takes the same
    /// time whatever stands there.
    var startsEntity: Bool { EntityStart.isThere(in: head) }

    /// The header at the beginning; nil if it is beyond the limit. How long this takes tells of the plaintext: it is for
    /// what was found intact.
    var header: HeaderBlock? { try? HeaderBlock(parsing: head) }

    /// Looks for what may follow a hyphen. That is no base64 character, so few are met.
    private func lookFor(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        var position = 0
        while position < bytes.count, let found = memchr(start + position, 0x2D, bytes.count - position) {
            position = UnsafeRawPointer(found) - start + 1
            let following = bytes[position..<min(position + Self.reach, bytes.count)]
            // Of a flood of hyphens each must cost next to nothing.
            if following.starts(with: Self.encoding, by: Self.isSameLetter) {
                mayHoldBinary =
                    mayHoldBinary
                    || following.indices.contains {
                        following[$0...].starts(with: Self.binary, by: Self.isSameLetter)
                    }
            } else if following.starts(with: Self.legacyDisplay, by: Self.isSameLetter) {
                mayHoldLegacyDisplay = true
            }
        }
    }

    private static let legacyDisplay = Array("legacy-display".utf8)
    private static let encoding = Array("encoding".utf8)
    private static let binary = Array("binary".utf8)

    /// Whether `byte` is `letter`, which is a small one, in whatever case.
    private static func isSameLetter(_ byte: UInt8, _ letter: UInt8) -> Bool { byte | 0x20 == letter }

    /// How far behind the hyphen of Transfer-Encoding the word is looked for, in bytes.
    private static let reach = 48
}
