import Foundation
import MIME
import Streams

/// Looks at plaintext as it passes: is it a MIME entity, and may one of its parts be binary?
final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var isHeadComplete = false
    private var tail: [UInt8] = []

    /// Whether something like `Content-Transfer-Encoding: binary` was met; it may stand anywhere.
    private(set) var mayHoldBinary = false

    /// The largest header that is looked at.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    func write(_ bytes: UnsafeRawBufferPointer) {
        if !isHeadComplete { collectHead(bytes) }
        guard !mayHoldBinary else { return }
        // The words may lie across two windows.
        tail.append(contentsOf: bytes.prefix(Self.reach))
        mayHoldBinary = tail.withUnsafeBytes { Self.holdsBinary($0) } || Self.holdsBinary(bytes)
        tail = Array(bytes.suffix(Self.reach))
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
            let following = String(decoding: bytes[position..<min(position + reach, bytes.count)], as: UTF8.self)
                .lowercased()
            if following.hasPrefix("encoding"), following.contains("binary") { return true }
        }
        return false
    }

    /// How far behind the hyphen of Transfer-Encoding the word is looked for, in bytes.
    private static let reach = 48
}
