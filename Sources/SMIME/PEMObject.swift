import CMS
package import Streams

/// A CMS object in PEM (RFC 7468 §9), of any size.
package enum PEMObject {
    private static let searched = 4096

    /// Whether `head`, the beginning of a file, is that of a CMS object in PEM.
    static func begins(_ head: [UInt8]) -> Bool {
        ["CMS", "PKCS7", "PKCS #7 SIGNED DATA"].contains { head.starts(with: "-----BEGIN \($0)-----".utf8) }
    }

    /// The object in the first PEM block of `source`.
    package static func stream(of source: any ByteSource) throws -> ByteStream {
        let head = try source.bytes(in: 0..<min(source.count, searched))
        let tailStart = max(0, source.count - searched)
        let tail = try source.bytes(in: tailStart..<source.count)
        guard head.starts(with: Array("-----BEGIN ".utf8)), let lineEnd = head.firstIndex(of: 10),
            let end = tail.lastRange(of: Array("-----END ".utf8))
        else { throw CMSError.malformed(.pem, "no PEM block") }
        // The mark of the end may stand in the very first line.
        guard lineEnd + 1 < tailStart + end else { throw CMSError.malformed(.pem, "an empty PEM block") }
        return source.stream(in: lineEnd + 1..<tailStart + end).base64Decoded()
    }

    /// Writes what `body` writes as one PEM block.
    package static func write(to sink: any ByteSink, _ body: (any ByteSink) throws -> Void) throws {
        try sink.write("-----BEGIN CMS-----\n")
        let encoder = Base64Encoder(sink, lineEnd: [10])
        try body(encoder)
        try encoder.finish()
        try sink.write("-----END CMS-----\n")
    }
}

extension [UInt8] {
    /// Where `pattern` stands for the last time.
    fileprivate func lastRange(of pattern: [UInt8]) -> Int? {
        guard count >= pattern.count else { return nil }
        return (0...(count - pattern.count)).last { self[$0...].starts(with: pattern) }
    }
}
