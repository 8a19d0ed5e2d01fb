/// A header field as in a milter packet.
///
/// With `MilterSteps.leadingSpace` the value is everything after the colon. Without it, a space directly after the colon is
/// not part of the value. Lines in the value are separated by line feeds.
package struct MilterField: Hashable, Sendable {
    /// The name: printable ASCII without a colon. The mail server drops blanks between the name and the colon.
    package let name: String
    package let value: [UInt8]

    /// - Returns: nil if `name` is not a field name or `value` contains a zero byte.
    package init?(name: String, value: [UInt8]) {
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3A }), !value.contains(0)
        else { return nil }
        self.name = name
        self.value = value
    }

    private init(unchecked name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// Reads a field of a message: `Name:`, followed by the value with its folding and line ends.
    ///
    /// - Parameter leadingSpace: whether the value includes the space after the colon.
    /// - Returns: nil if `bytes` are not a field, or contain a zero byte.
    init?(_ bytes: ArraySlice<UInt8>, leadingSpace: Bool) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var value = bytes[(colon + 1)...]
        if value.last == 0x0A { value = value.dropLast() }
        if value.last == 0x0D, value.endIndex < bytes.endIndex { value = value.dropLast() }
        if !leadingSpace, value.first == 0x20 { value = value.dropFirst() }
        self.init(name: String(decoding: bytes[..<colon], as: UTF8.self), value: Self.lines(of: value))
    }

    /// The field with line feeds as line ends, and a blank at the start of every line after the first. Mail servers write
    /// fields in this form, even if another milter changed them.
    var normalized: MilterField { MilterField(unchecked: name, value: Self.lines(of: value[...])) }

    /// Whether the field is a Message-ID with a value.
    var isMessageID: Bool {
        name.lowercased() == "message-id" && value.contains { ![0x20, 0x09, 0x0D, 0x0A].contains($0) }
    }

    private static func lines(of value: ArraySlice<UInt8>) -> [UInt8] {
        guard value.contains(0x0A) else { return Array(value) }
        var lines: [UInt8] = []
        lines.reserveCapacity(value.count)
        for byte in value {
            if lines.last == 0x0A, byte != 0x20, byte != 0x09 { lines.append(0x20) }
            if byte == 0x0A, lines.last == 0x0D { lines.removeLast() }
            lines.append(byte)
        }
        if lines.last == 0x0A { lines.append(0x20) }
        return lines
    }

    /// The field as in a message, with CRLF.
    func bytes(leadingSpace: Bool) -> [UInt8] {
        var bytes = Array(name.utf8)
        bytes.reserveCapacity(bytes.count + value.count + 8)
        bytes.append(UInt8(ascii: ":"))
        if !leadingSpace { bytes.append(0x20) }
        for byte in value {
            if byte == 0x0A { bytes.append(0x0D) }
            bytes.append(byte)
        }
        bytes += [0x0D, 0x0A]
        return bytes
    }
}

/// Assigns new header fields to old ones of the same name, so that as many as possible stay unchanged.
struct FieldAlignment {
    /// The maximum number of cells in the table. For larger headers each new field is assigned to the next old field of the
    /// same name.
    private static let tableLimit = 250_000

    /// For each new field the index of the old field that it is assigned to, in ascending order; nil for fields without one.
    let matches: [Int?]

    init(of new: [MilterField], in old: [MilterField]) {
        let (cells, isLarge) = new.count.multipliedReportingOverflow(by: old.count)
        matches = isLarge || cells > Self.tableLimit ? Self.nextOfName(new, old: old) : Self.best(new, old: old)
    }

    /// The score for replacing the field `old` by `new`; zero if they do not match.
    private static func score(_ new: MilterField, old: MilterField) -> Int32 {
        if new == old { return 3 }
        // An empty value would remove the field.
        return new.name == old.name && !new.value.isEmpty ? 1 : 0
    }

    /// Computes a longest common subsequence with weights.
    private static func best(_ new: [MilterField], old: [MilterField]) -> [Int?] {
        let width = old.count + 1
        var table = [Int32](repeating: 0, count: (new.count + 1) * width)
        for row in new.indices.reversed() {
            for column in old.indices.reversed() {
                let score = score(new[row], old: old[column])
                let together = score > 0 ? score + table[(row + 1) * width + column + 1] : 0
                table[row * width + column] = max(
                    together,
                    table[(row + 1) * width + column],
                    table[row * width + column + 1]
                )
            }
        }
        var matches = [Int?](repeating: nil, count: new.count)
        var row = 0
        var column = 0
        while row < new.count, column < old.count {
            let value = table[row * width + column]
            let score = score(new[row], old: old[column])
            if score > 0, value == score + table[(row + 1) * width + column + 1] {
                matches[row] = column
                row += 1
                column += 1
            } else if value == table[(row + 1) * width + column] {
                row += 1
            } else {
                column += 1
            }
        }
        return matches
    }

    private static func nextOfName(_ new: [MilterField], old: [MilterField]) -> [Int?] {
        // For each name the indices of its fields, in descending order.
        var open: [String: [Int]] = [:]
        for place in old.indices.reversed() { open[old[place].name, default: []].append(place) }
        var next = 0
        return new.map { field in
            while let place = open[field.name]?.popLast() {
                guard place >= next, score(field, old: old[place]) > 0 else { continue }
                next = place + 1
                return place
            }
            return nil
        }
    }
}
