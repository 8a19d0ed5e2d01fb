import ByteStreams
import InternetMessage
import SMIME

/// Removes, replaces and adds fields in a message's header. The body stays unchanged, byte for byte.
struct HeaderEdit {
    /// The fields to add before all others, where trace fields belong (RFC 5322 §3.6.7).
    var added: [NewField] = []
    /// Returns the new bytes of each existing field. Empty bytes remove the field.
    var replacement: (HeaderField) -> [UInt8] = { Array($0.rawBytes) }

    /// Applies the edit to the message in `source`, whose header is `header`.
    func apply(to source: any ByteSource, _ header: HeaderBlock) -> any ByteSource {
        // A byte order mark is removed: after it, programs would not find the added fields.
        let mark = HeaderBlock.byteOrderMark
        var bytes = Array(header.leadingBytes.dropFirst(header.leadingBytes.starts(with: mark) ? mark.count : 0))
        for field in added { bytes += field.bytes(lineEnd: header.lineEnd) }
        for field in header.fields { bytes += replacement(field) }
        if bytes.last.map({ $0 != UInt8(ascii: "\n") }) ?? false { bytes += header.lineEnd.bytes }
        if header.defects.contains(.bareCR) || header.defects.contains(.nul) { bytes = Self.withoutControls(bytes) }
        // If the header ended without an empty line, other programs might find fields in the body.
        if header.separatorRange.isEmpty { bytes += header.lineEnd.bytes }
        return RewrittenSource(bytes, source, after: header.range.upperBound)
    }

    /// Replaces NUL and single carriage returns by blanks, since servers differ on whether a single carriage return ends a
    /// line (RFC 5321 §2.3.8).
    private static func withoutControls(_ bytes: [UInt8]) -> [UInt8] {
        bytes.indices.map { index in
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            let isBare = byte == UInt8(ascii: "\r") && next != UInt8(ascii: "\n")
            return byte == 0 || isBare ? UInt8(ascii: " ") : byte
        }
    }
}
