package import ByteStreams
package import InternetMessage

extension ProtectedHeader {
    /// The message's header as its author wrote it, including the empty line, with the line ends of `outer`.
    ///
    /// The protected fields replace the outer fields. Fields added in transit stay. But if the protection covers all fields
    /// (`Scheme.isComplete`), added fields that mail programs display are removed, because readers would take them for
    /// protected fields. Of these, only Date and Message-ID stay, which mail servers add (RFC 6409 §8).
    ///
    /// - Parameters:
    ///   - keepingFrom: whether the outer From stays, because the inner From is not verified.
    ///   - extent: which fields are restored; all other fields stay as they are outside.
    ///
    /// RFC 9788 §4.2, §4.4
    package func restored(into outer: HeaderBlock, keepingFrom: Bool, _ extent: Extent) -> [UInt8] {
        let inner = extent.once(
            header.fields.filter { field in
                let name = field.name.lowercased()
                return switch HeaderFieldKind(field) {
                case .message: extent.includes(name) && !(keepingFrom && name == "from")
                case .structural: extent.includesContent(name)
                case .transport, .mechanism: false
                }
            }
        )
        let places = Dictionary(grouping: inner.indices) { inner[$0].name.lowercased() }
        var counts: [String: Int] = [:]
        var output = Array(outer.leadingBytes)
        var next = 0
        for field in outer.fields {
            let name = field.name.lowercased()
            guard let own = places[name] else {
                let isLeft =
                    HeaderSplit.isReplaced(field, outer.lineEnd)
                    || extent.includes(name) && isAddedInTransit(name, keepingFrom)
                if !isLeft { output += field.terminatedBytes(outer.lineEnd) }
                continue
            }
            let number = counts[name, default: 0]
            counts[name] = number + 1
            guard number < own.count else { continue }
            while next <= own[number] {
                output += restored(inner[next], outer.lineEnd)
                next += 1
            }
        }
        for field in inner[next...] { output += restored(field, outer.lineEnd) }
        return output + header.ending.withLines(endingIn: outer.lineEnd)
    }

    /// As `restored(into:keepingFrom:_:)`, with all fields of the message.
    package func restored(into outer: HeaderBlock, keepingFrom: Bool) -> [UInt8] {
        restored(into: outer, keepingFrom: keepingFrom, .all)
    }

    private func isAddedInTransit(_ name: String, _ keepingFrom: Bool) -> Bool {
        scheme.isComplete && HeaderFieldKind.userFacingNames.contains(name)
            && !HeaderFieldKind.serverAddedNames.contains(name)
            && !(keepingFrom && name == "from")
    }

    /// A protected field without the parameters of header protection; empty for a Content-Type that header protection added.
    private func restored(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8] {
        var bytes = field.terminatedBytes(header.lineEnd)
        if field.isNamed("Content-Type"), scheme != .wrapped {
            let canonical = bytes.withLines(endingIn: .crlf)
            if HeaderProtection.addedTypes.contains(canonical) { return [] }
            bytes = field.removingParameters(HeaderProtection.parameters, header.lineEnd)
        }
        return bytes.withLines(endingIn: lineEnd)
    }
}

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
