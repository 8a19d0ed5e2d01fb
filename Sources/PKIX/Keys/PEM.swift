import ByteStreams
import LibCrypto

/// The blocks of a PEM file. Text between the blocks is ignored.
///
/// RFC 7468, and the header fields of RFC 1421, which old private keys have.
enum PEM {
    struct Block {
        /// The label after BEGIN, such as `CERTIFICATE`.
        let label: String
        /// The lines of the header fields, such as `Proc-Type: 4,ENCRYPTED`.
        let headers: [String]
        /// The decoded body; empty for a private key.
        let der: [UInt8]
        /// The decoded body of a private key; nil for other blocks.
        let secret: SecretBytes?
        /// The lines of a block with RFC 1421 encryption, for libcrypto. Empty for other blocks, because the text of a private
        /// key must not stay in memory.
        let text: [UInt8]
        /// Whether the header fields mark the block as encrypted (RFC 1421 §4.6.1.1).
        var isEncrypted: Bool { PEM.isEncrypted(headers) }
    }

    /// The maximum number of blocks in one file.
    static let maximumBlocks = 100_000
    /// The maximum number of lines in one block: more than the largest revocation list has.
    private static let maximumLines = 2_000_000

    /// Whether `bytes` contain the BEGIN mark of a PEM block.
    static func isPEM(_ bytes: [UInt8]) -> Bool {
        Lines(bytes).contains { label(of: $0, "-----BEGIN ") != nil }
    }

    /// Whether a block in `head`, the beginning of a file, is a private key or PKCS#12.
    static func mayHoldPrivateKey(_ head: [UInt8]) -> Bool {
        Lines(head).contains { line in
            label(of: line, "-----BEGIN ").map { $0.hasSuffix("PRIVATE KEY") || $0 == "PKCS12" } ?? false
        }
    }

    /// All blocks in order.
    ///
    /// - Throws: `CMSError.malformed` for a block that has no end, or has a body that is not base64; `.limitExceeded`.
    static func blocks(in bytes: [UInt8]) throws(CMSError) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, lines: [ArraySlice<UInt8>])?
        for line in Lines(bytes) {
            if let label = open?.label {
                if Self.label(of: line, "-----END ") == label {
                    blocks.append(try block(label, open?.lines ?? []))
                    open = nil
                    guard blocks.count <= maximumBlocks else { throw .limitExceeded("PEM blocks") }
                } else {
                    open?.lines.append(line)
                    guard open?.lines.count ?? 0 <= maximumLines else { throw .limitExceeded("lines of a PEM block") }
                }
            } else if let label = Self.label(of: line, "-----BEGIN ") {
                open = (label, [])
            }
        }
        if let open { throw .malformed(.pem, "no END \(open.label)") }
        return blocks
    }

    /// The blocks that can be read, in order, and whether there are no others and nothing that may be a certificate
    /// outside of them. A BEGIN line ends a block that has no END line, so that such a block does not hide the next one.
    static func readableBlocks(in bytes: [UInt8]) -> (blocks: [Block], isComplete: Bool) {
        var blocks: [Block] = []
        var isComplete = true
        var open: (label: String, lines: [ArraySlice<UInt8>])?
        for line in Lines(bytes) {
            if let label = Self.label(of: line, "-----BEGIN ") {
                if open != nil { isComplete = false }
                open = (label, [])
            } else if let label = Self.label(of: line, "-----END ") {
                guard let ended = open else {
                    isComplete = false
                    continue
                }
                open = nil
                if ended.label == label, blocks.count < maximumBlocks, let read = try? Self.block(label, ended.lines) {
                    blocks.append(read)
                } else {
                    isComplete = false
                }
            } else if open != nil {
                open?.lines.append(line)
            } else if mayBeData(line) {
                isComplete = false
            }
        }
        return (blocks, isComplete && open == nil)
    }

    /// `bytes` with each BEGIN or END mark on a line of its own. The hyphens between two marks belong to both of them,
    /// however many they are.
    static func divided(_ bytes: [UInt8]) -> [UInt8] {
        let (hyphen, lineEnd) = (UInt8(ascii: "-"), UInt8(0x0A))
        let hyphens = [UInt8](repeating: hyphen, count: 5)
        let marks = ["BEGIN ", "END "].map { Array($0.utf8) }
        var divided: [UInt8] = []
        var position = 0
        var isInMark = false
        while let start = bytes.octets.firstOffset(of: hyphens, from: position) {
            let end = bytes[start...].firstIndex { $0 != hyphen } ?? bytes.count
            let text = bytes[position..<start]
            divided += text
            let closesMark = isInMark && !text.contains { $0 == lineEnd || $0 == 0x0D }
            isInMark = marks.contains { bytes[end...].starts(with: $0) }
            if closesMark { divided += hyphens + [lineEnd] }
            if isInMark { divided += [lineEnd] + hyphens }
            if !closesMark, !isInMark { divided += bytes[start..<end] }
            position = end
        }
        return divided + bytes[position...]
    }

    /// The number of BEGIN and END marks in `bytes`, also of marks with too few hyphens (at least two) or in lower case.
    static func markCount(in bytes: [UInt8]) -> Int {
        let marks = ["begin ", "end "].map { Array($0.utf8) }
        return bytes.indices.dropFirst().count { index in
            guard bytes[index] == UInt8(ascii: "-"), bytes[index - 1] == UInt8(ascii: "-") else { return false }
            // Sets the bit that distinguishes lower-case letters. A blank has it, too.
            let next = bytes[(index + 1)...].prefix(6).map { $0 | 0x20 }
            return marks.contains { next.starts(with: $0) }
        }
    }

    /// Whether `line`, which is outside of all blocks, may be a part of a certificate in another form: DER, or base64
    /// without marks.
    private static func mayBeData(_ line: ArraySlice<UInt8>) -> Bool {
        let content = line.drop { $0 == 0x09 || $0 == 0x0C }
        return content.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0C && $0 != 0x1A }
            || content.count >= 48 && content.dropLast(2).allSatisfy(isBase64)
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "A"..."Z", "a"..."z", "0"..."9", "+", "/": true
        default: false
        }
    }

    private static func block(_ label: String, _ lines: [ArraySlice<UInt8>]) throws(CMSError) -> Block {
        let headers = lines.prefix { $0.contains(UInt8(ascii: ":")) }
        let body = lines.dropFirst(headers.count)
        let isSecret = label.hasSuffix("PRIVATE KEY")
        let fields = headers.map { String(decoding: $0, as: UTF8.self) }
        let der: [UInt8]
        do {
            der = isSecret ? [] : try [UInt8](base64: body.reduce(into: [UInt8]()) { $0 += $1 })
        } catch { throw .malformed(.pem, "\(label) is not base64") }
        return Block(
            label: label,
            headers: fields,
            der: der,
            secret: isSecret ? try SecretBytes.decoded(body, label: label) : nil,
            text: isEncrypted(fields) ? text(label, headers: headers, body: body) : []
        )
    }

    private static func isEncrypted(_ headers: [String]) -> Bool {
        headers.contains { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }
    }

    private static func text(
        _ label: String,
        headers: ArraySlice<ArraySlice<UInt8>>,
        body: ArraySlice<ArraySlice<UInt8>>
    ) -> [UInt8] {
        let blank: [ArraySlice<UInt8>] = [[]]
        let lines = (headers + blank + body).flatMap { $0 + [0x0a] }
        return Array("-----BEGIN \(label)-----\n".utf8) + lines + Array("-----END \(label)-----\n".utf8)
    }

    /// The label of a BEGIN or END line; nil for any other line.
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

/// Iterates over the non-empty lines of a file, without surrounding blanks.
private struct Lines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func next() -> ArraySlice<UInt8>? {
        rest = rest.drop { Self.isBlank($0) || Self.isEnd($0) }
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { !Self.isEnd($0) }
        rest = rest[line.endIndex...]
        let end = line.lastIndex { !Self.isBlank($0) } ?? line.startIndex
        return line[...end]
    }

    private static func isEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension [UInt8] {
    /// Parses pairs of hexadecimal digits; nil if there are other characters or an odd number of digits.
    ///
    /// Never converts the digits to a String, whose copies would stay in memory: the digits may be secret.
    ///
    /// - Parameter separators: characters that are ignored anywhere.
    package init?(hexadecimal digits: some Collection<UInt8>, ignoring separators: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2 + 1)
        var isHalf = false
        for character in digits where !separators.utf8.contains(character) {
            guard let digit = character.hexadecimalValue else {
                bytes.wipe()
                return nil
            }
            if isHalf { bytes[bytes.count - 1] |= digit } else { bytes.append(digit << 4) }
            isHalf.toggle()
        }
        guard !isHalf else {
            bytes.wipe()
            return nil
        }
        self = bytes
    }
}

extension SecretBytes {
    /// Decodes the base64 in `lines` without leaving another copy in memory.
    ///
    /// - Throws: `CMSError.malformed` if the lines are not base64.
    static func decoded(_ lines: ArraySlice<ArraySlice<UInt8>>, label: String) throws(CMSError) -> SecretBytes {
        let decoded: SecretBytes?
        do throws(OpenSSLError) { decoded = try SecretBytes(base64: lines) } catch { throw .openSSL(error) }
        guard let decoded else { throw .malformed(.pem, "\(label) is not base64") }
        return decoded
    }
}
