/// Removes X-SMIME fields, and Authentication-Results fields that may name this host, from header lines, without the
/// parsers that all other code uses.
///
/// It handles lines that other readers may count as header although this program's parser ended the header before them, and
/// messages at which the parsers crashed. It looks only at line ends, field names and blanks, and for Authentication-Results
/// also at the value. When in doubt, it removes the field.
struct UnparsedHeader {
    /// The names of this host, in lower case and without the characters that `squeezed` removes.
    private let names: [[UInt8]]

    init(of host: MailHost) {
        names = host.names.map { Self.squeezed(Array($0.utf8)) }.filter { !$0.isEmpty }
    }

    /// The offset after the first empty line in `bytes` at or after `first`, which ends the header for all readers; nil if
    /// there is none.
    static func end(in bytes: [UInt8], from first: Int = 0) -> Int? {
        var start = first
        while start < bytes.count {
            guard let feed = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            if feed == start || feed == start + 1 && bytes[start] == UInt8(ascii: "\r") { return feed + 1 }
            start = feed + 1
        }
        return nil
    }

    /// `lines` without the verdict fields, and the removed fields.
    ///
    /// - Parameter others: whether a field is removed although this type does not take it for a verdict field.
    func removingVerdicts(
        from lines: [UInt8],
        and others: (ArraySlice<UInt8>) -> Bool = { _ in false }
    ) -> (kept: [UInt8], removed: [[UInt8]]) {
        var (kept, removed): ([UInt8], [[UInt8]]) = ([], [])
        for field in Self.fields(lines) {
            if isVerdict(field) || others(field) { removed.append(Array(field)) } else { kept += field }
        }
        return (kept, removed)
    }

    /// The name of a field in lower case, without blanks and other characters that names cannot contain; empty if there is
    /// no colon.
    static func name(of field: some Collection<UInt8>) -> [UInt8] {
        guard field.contains(UInt8(ascii: ":")) else { return [] }
        return field.prefix { $0 != UInt8(ascii: ":") }.filter { 33...126 ~= $0 }.map(lowercased)
    }

    /// The fields, each with its continuation lines. A carriage return also ends a line, as it does for some readers.
    static func fields(_ lines: [UInt8]) -> [ArraySlice<UInt8>] {
        var fields: [ArraySlice<UInt8>] = []
        var start = 0
        var position = 0
        while position < lines.count {
            let byte = lines[position]
            position += 1
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
            let next = position < lines.count ? lines[position] : 0
            let isInLineEnd = byte == UInt8(ascii: "\r") && next == UInt8(ascii: "\n")
            guard !isInLineEnd, next != UInt8(ascii: " "), next != UInt8(ascii: "\t") else { continue }
            fields.append(lines[start..<position])
            start = position
        }
        return start < lines.count ? fields + [lines[start...]] : fields
    }

    private func isVerdict(_ field: ArraySlice<UInt8>) -> Bool {
        // The words are in lower case; the marks between them separate words.
        let words = Self.name(of: field).split { !Self.isWordByte($0) }
        let letters = Array(words.joined())
        // In X-SMIME, XSMIME and X-S-MIME a word ends after the last letter. X-SMIMEA is another field.
        if (1...3).contains(where: { words.prefix($0).joined().elementsEqual("xsmime".utf8) }) { return true }
        guard letters.starts(with: "authenticationresult".utf8), letters.count <= 21 else { return false }
        let value = field.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        let first = Self.squeezed(value.prefix { $0 != UInt8(ascii: ";") })
        let all = Self.squeezed(value)
        // A value with non-ASCII characters or an encoded word may contain a name of this host in another form.
        let isEncoded = Self.contains(Array(value), word: Array("=?".utf8)) || value.contains { $0 > 127 }
        return first.isEmpty || isEncoded || names.contains { Self.contains(all, word: $0) }
    }

    /// The letters, digits, dots, hyphens and underscores of `text`, in lower case.
    private static func squeezed(_ text: some Collection<UInt8>) -> [UInt8] {
        text.map(lowercased).filter { isWordByte($0) || "-._".utf8.contains($0) }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private static func contains(_ text: [UInt8], word: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { text[$0...].starts(with: word) }
    }
}
