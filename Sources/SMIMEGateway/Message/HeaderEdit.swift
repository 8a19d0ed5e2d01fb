import ByteStreams
import InternetMessage

/// A message's header with some fields taken out and some put in front; its body stays as it is, byte for byte.
struct HeaderEdit {
    /// Fields in front of all others, where trace fields belong (RFC 5322 §3.6.7).
    var added: [NewField] = []
    /// The new bytes of each existing field; none removes it.
    var replacement: (HeaderField) -> [UInt8] = { Array($0.rawBytes) }

    /// The message in `source`, whose header is `header`, edited.
    func apply(to source: any ByteSource, _ header: HeaderBlock) -> any ByteSource {
        var bytes = Array(header.leadingBytes)
        for field in added { bytes += field.bytes(lineEnd: header.lineEnd) }
        for field in header.fields { bytes += replacement(field) }
        if bytes.last.map({ $0 != UInt8(ascii: "\n") }) ?? false { bytes += header.lineEnd.bytes }
        if header.defects.contains(.bareCR) || header.defects.contains(.nul) { bytes = Self.withoutControls(bytes) }
        // If the header ends without an empty line, other programs may find fields in our body.
        if header.separatorRange.isEmpty { bytes += header.lineEnd.bytes }
        return RewrittenSource(bytes, source, after: header.range.upperBound)
    }

    /// Replaces NUL and bare carriage returns by blanks, since servers disagree on whether a bare carriage return ends a line (RFC 5321
    /// §2.3.8).
    private static func withoutControls(_ bytes: [UInt8]) -> [UInt8] {
        bytes.indices.map { index in
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            let isBare = byte == UInt8(ascii: "\r") && next != UInt8(ascii: "\n")
            return byte == 0 || isBare ? UInt8(ascii: " ") : byte
        }
    }
}
