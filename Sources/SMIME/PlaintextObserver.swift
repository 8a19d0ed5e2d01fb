import Foundation
import MIME
import Streams

/// Looks at plaintext as it passes: is it a MIME entity, and may one of its parts be binary?
package final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var isHeadComplete = false
    private var tail: [UInt8] = []

    /// Whether something like `Content-Transfer-Encoding: binary` was met; it may stand anywhere.
    package private(set) var mayHoldBinary = false

    /// The largest header that is looked at.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer) {
        if !isHeadComplete { collectHead(bytes) }
        guard !mayHoldBinary else { return }
        // The words may lie across two windows.
        tail.append(contentsOf: bytes.prefix(Self.reach))
        mayHoldBinary = tail.withUnsafeBytes { Self.holdsBinary($0) } || Self.holdsBinary(bytes)
        tail = bytes.count < Self.reach ? Array(tail.suffix(Self.reach)) : Array(bytes.suffix(Self.reach))
    }

    /// The header at the beginning; nil if there is no field and no empty line, so that this is no entity.
    var header: HeaderBlock? {
        guard let header = try? HeaderBlock(parsing: head) else { return nil }
        let isEmpty = header.fields.isEmpty
        return isEmpty && !head.starts(with: [13, 10]) && !head.starts(with: [10]) ? nil : header
    }

    private func collectHead(_ bytes: UnsafeRawBufferPointer) {
        let before = max(0, head.count - 3)
        head.append(contentsOf: bytes.prefix(Self.headLimit - head.count))
        isHeadComplete =
            head.count >= Self.headLimit || Self.endsHeader(head[before...]) || head.first == 10
            || head.starts(with: [13, 10])
    }

    private static func endsHeader(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.contains { index in
            guard bytes[index] == 10 else { return false }
            let rest = bytes[(index + 1)...]
            return rest.first == 10 || rest.starts(with: [13, 10])
        }
    }

    /// Whether a transfer encoding of `binary` is declared. A hyphen is no base64 character, so few are met.
    private static func holdsBinary(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        var position = 0
        while position < bytes.count, let found = memchr(start + position, 0x2D, bytes.count - position) {
            position = UnsafeRawPointer(found) - start + 1
            let following = bytes[position..<min(position + reach, bytes.count)]
            // Of a flood of hyphens each must cost next to nothing.
            guard following.starts(with: encoding, by: isSameLetter) else { continue }
            if following.indices.contains(where: { following[$0...].starts(with: binary, by: isSameLetter) }) {
                return true
            }
        }
        return false
    }

    private static let encoding = Array("encoding".utf8)
    private static let binary = Array("binary".utf8)

    /// Whether `byte` is `letter`, which is a small one, in whatever case.
    private static func isSameLetter(_ byte: UInt8, _ letter: UInt8) -> Bool { byte | 0x20 == letter }

    /// How far behind the hyphen of Transfer-Encoding the word is looked for, in bytes.
    private static let reach = 48
}
