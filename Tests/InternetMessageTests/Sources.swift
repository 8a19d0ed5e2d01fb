import ByteStreams
import InternetMessage
import TestSupport

/// A source that returns at most `step` bytes per call, so that everything crosses a boundary between calls.
struct SlowSource: ByteSource {
    let bytes: [UInt8]
    let step: Int

    var count: Int { bytes.count }

    func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let length = min(step, buffer.count, bytes.count - offset)
        guard length > 0 else { return 0 }
        for index in 0..<length { buffer[index] = bytes[offset + index] }
        return length
    }
}

extension String {
    /// The text's bytes with CRLF line ends.
    var crlf: [UInt8] { bytes.withLines(endingIn: .crlf) }
    /// The text's bytes.
    var bytes: [UInt8] { Array(utf8) }
}

extension Array<UInt8> {
    /// These bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension ByteReader {
    func all() throws -> [UInt8] { try readAll(limit: .max, orThrow: StreamError.changedWhileReading) }

    /// All bytes, read with small buffers of varying sizes.
    func allInPieces(_ generator: inout SeededGenerator) throws -> [UInt8] {
        var result: [UInt8] = []
        let window = Window(size: 64)
        while true {
            let size = Int.random(in: 1...64, using: &generator)
            let count = try window.fill(0..<size, from: self)
            if count == 0 { return result }
            result.append(contentsOf: window.prefix(count))
        }
    }
}

extension ByteStream {
    func all() throws -> [UInt8] { try makeReader().all() }
}

/// Parses the message twice, from memory and in small pieces; both results must be equal.
func parse(_ bytes: [UInt8]) throws -> (Entity, any ByteSource) {
    let source = MemorySource(bytes)
    let entity = try MIMEReader.message(in: source)
    for step in [1, 2, 7] {
        let slow = try MIMEReader.message(in: SlowSource(bytes: bytes, step: step))
        guard slow.outline == entity.outline else { throw OutlineMismatch(step: step) }
    }
    return (entity, source)
}

struct OutlineMismatch: Error { let step: Int }

extension Entity {
    /// The structure in one line.
    var outline: String {
        let flags = defects.map(\.rawValue).sorted().joined(separator: ",")
        return "\(contentType.name)[\(range) \(bodyRange) \(flags)](\(children.map(\.outline).joined(separator: " ")))"
    }

    /// The part at `path`, counted from 0.
    func part(_ path: Int...) -> Entity? {
        path.reduce(Optional(self)) { part, index in
            part.flatMap { $0.children.indices.contains(index) ? $0.children[index] : nil }
        }
    }

    func text(in source: any ByteSource) throws -> String { try source.bytes(in: range).text }
    func body(in source: any ByteSource) throws -> String { try source.bytes(in: bodyRange).text }
}

extension HeaderBlock {
    /// The message `bytes`, whose header this is, in four variants: with one more field at the top, without its first field,
    /// with another Content-Type, and without a header.
    func variants(of bytes: [UInt8]) -> [MemorySource] {
        let rest = bytes[range.upperBound...]
        let first = fields.first.map { Array($0.rawBytes) } ?? []
        let type = "Content-Type: multipart/mixed; boundary=other\(lineEnd == .lf ? "\n" : "\r\n")".bytes
        let headers = [
            "X-Added: yes\(lineEnd == .lf ? "\n" : "\r\n")".bytes + self.bytes,
            Array(leadingBytes) + self.bytes.dropFirst(leadingBytes.count + first.count),
            type + self.bytes,
            [],
        ]
        return headers.map { MemorySource($0 + rest) }
    }
}
