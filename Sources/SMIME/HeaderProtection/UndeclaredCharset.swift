package import ByteStreams

/// The charset to declare for a message that declares none.
package enum UndeclaredCharset: String, Sendable, CaseIterable {
    /// ASCII, the default of RFC 2045 §5.2.
    case ascii = "us-ascii"
    /// The text contains bytes above 127 that are not UTF-8 (RFC 1428).
    case unknown = "unknown-8bit"
    case utf8 = "utf-8"

    /// Determines the charset of all bytes of `reader`.
    ///
    /// - Throws: errors of reading.
    package init(of reader: any ByteReader) throws {
        let window = Window()
        var carried: [UInt8] = []
        self = .ascii
        while case let count = try window.fill(from: reader), count > 0 {
            guard self != .unknown else { continue }
            var bytes = carried
            bytes.append(contentsOf: window.prefix(count))
            carried = Self.unfinished(bytes)
            bytes.removeLast(carried.count)
            if self == .ascii, carried.isEmpty, bytes.allSatisfy({ $0 < 128 }) { continue }
            self = String(validating: bytes, as: UTF8.self) == nil ? .unknown : .utf8
        }
        if !carried.isEmpty { self = .unknown }
    }

    /// The bytes of an incomplete character at the end of `bytes`.
    private static func unfinished(_ bytes: [UInt8]) -> [UInt8] {
        guard let lead = bytes.suffix(3).lastIndex(where: { $0 >= 0xC0 }) else { return [] }
        let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
        return bytes.count - lead < length ? Array(bytes[lead...]) : []
    }
}
