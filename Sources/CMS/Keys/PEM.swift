import Streams

/// The blocks of a PEM file; whatever stands between them is text for people.
///
/// RFC 7468, and RFC 1421's header fields as old private keys have them.
enum PEM {
    struct Block {
        /// What stands after BEGIN, as in `CERTIFICATE`.
        let label: String
        /// The header fields' lines, as `Proc-Type: 4,ENCRYPTED`.
        let headers: [String]
        /// The decoded body; empty if it is a private key.
        let der: [UInt8]
        /// The decoded body if it is a private key.
        let secret: SecretBytes?
        /// The lines as they were, for libcrypto where header fields matter; empty if there are none.
        let text: [UInt8]
    }

    /// The most blocks that are read from one file.
    static let maximumBlocks = 100_000

    /// Whether `bytes` have the mark of a PEM block anywhere.
    static func isPEM(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: 0x0a).contains { label(of: trim($0), "-----BEGIN ") != nil }
    }

    /// Every block in turn.
    ///
    /// - Throws: `CMSError.malformed` for a block that does not end or whose body is not base64.
    static func blocks(in bytes: [UInt8]) throws(CMSError) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, lines: [ArraySlice<UInt8>])?
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).map(trim) {
            if let label = open?.label {
                if Self.label(of: line, "-----END ") == label {
                    blocks.append(try block(label, open?.lines ?? []))
                    open = nil
                    guard blocks.count <= maximumBlocks else { throw .limitExceeded("PEM blocks") }
                } else {
                    open?.lines.append(line)
                }
            } else if let label = Self.label(of: line, "-----BEGIN ") {
                open = (label, [])
            }
        }
        if let open { throw .malformed(.pem, "no END \(open.label)") }
        return blocks
    }

    private static func block(_ label: String, _ lines: [ArraySlice<UInt8>]) throws(CMSError) -> Block {
        let headers = lines.prefix { $0.contains(UInt8(ascii: ":")) }
        let body = lines.dropFirst(headers.count)
        let isSecret = label.hasSuffix("PRIVATE KEY")
        let der: [UInt8]
        do {
            der = isSecret ? [] : try [UInt8](base64: body.reduce(into: [UInt8]()) { $0 += $1 })
        } catch { throw .malformed(.pem, "\(label) is not base64") }
        return Block(
            label: label,
            headers: headers.map { String(decoding: $0, as: UTF8.self) },
            der: der,
            secret: isSecret ? try SecretBytes.decoded(body, label: label) : nil,
            text: headers.isEmpty ? [] : text(label, headers, body)
        )
    }

    private static func text(
        _ label: String,
        _ headers: ArraySlice<ArraySlice<UInt8>>,
        _ body: ArraySlice<ArraySlice<UInt8>>
    ) -> [UInt8] {
        let blank: [ArraySlice<UInt8>] = [[]]
        let lines = (headers + blank + body).flatMap { $0 + [0x0a] }
        return Array("-----BEGIN \(label)-----\n".utf8) + lines + Array("-----END \(label)-----\n".utf8)
    }

    private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        let end = line.lastIndex { !isBlank($0) } ?? line.startIndex - 1
        return line[...end].drop(while: isBlank)
    }

    /// The label of a BEGIN or END line; nil if `line` is none.
    private static func label(of line: ArraySlice<UInt8>, _ mark: StaticString) -> String? {
        let start = mark.utf8CodeUnitCount
        let isMarked = mark.withUTF8Buffer { line.starts(with: $0) }
        guard isMarked, line.count > start + 5, line.suffix(5).allSatisfy({ $0 == UInt8(ascii: "-") }) else {
            return nil
        }
        let label = line.dropFirst(start).dropLast(5)
        return label.allSatisfy { (0x20..<0x7f).contains($0) } ? String(decoding: label, as: UTF8.self) : nil
    }
}
