import ByteStreams

extension HeaderBlock {
    /// Whether the header contains non-ASCII bytes.
    var has8Bit: Bool { bytes.octets.has8Bit }
    /// Whether a line is longer than mail servers accept (RFC 5322 §2.1.1).
    var hasLongLine: Bool { bytes.count > 998 && bytes.hasLongLine }
    /// Whether mail transport might change the header inside of a body: it is not ASCII, has a long line, or begins like a
    /// message in an mbox file.
    var needsEncoding: Bool { has8Bit || hasLongLine || defects.contains(.mboxLine) }
    /// Whether a carriage return is inside a line: many programs end the line there, and perhaps the header.
    package var hasReturnInLine: Bool {
        var position = 0
        while let found = bytes.octets.firstOffset(of: .carriageReturn, from: position) {
            // Several carriage returns at the end of a line are not part of the line's text.
            guard let next = bytes[found...].firstIndex(where: { $0 != .carriageReturn }) else { return false }
            guard bytes[next] == .lineFeed else { return true }
            position = next
        }
        return false
    }
    /// The defect because of which other programs may find other fields in this header, or end it elsewhere; nil if there is
    /// none. A defect that disappears if an empty line follows the last field does not count.
    package var ambiguity: MIMEDefect? {
        guard !hasReturnInLine else { return .bareCR }
        guard defects.contains(.hiddenFields) else { return nil }
        // Text after a line that is not a field does not belong to the header and is written unchanged.
        guard let alone = try? HeaderBlock(parsing: bytes), alone.defects.contains(.hiddenFields) else { return nil }
        return alone.defects.contains(.bareCR) ? .bareCR : .hiddenFields
    }
    /// Whether the fields are UTF-8, as RFC 6532 allows.
    var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }
}

extension HeaderField {
    /// Whether `inSevenBits` changes the field.
    var needsSevenBits: Bool { rawBytes.contains { $0 > 127 } || rawBytes.hasLongLine }

    /// The field of a part in 7-bit and in lines of at most 998 bytes; nil if it cannot be converted.
    ///
    /// Parameters are encoded with RFC 2231, and displayed text with RFC 2047. Bytes that are not UTF-8 are read as Latin-1.
    /// Long lines are folded.
    func inSevenBits(_ lineEnd: LineEnd) -> [UInt8]? {
        let folded = asciiForm(lineEnd).map { $0.folded(lineEnd) }
        guard let folded, folded.hasLongLine else { return folded }
        guard isNamed("Content-Type") || isNamed("Content-Disposition") else { return nil }
        return parametersInSevenBits(lineEnd, longest: 900).map { $0.folded(lineEnd) }.flatMap {
            $0.hasLongLine ? nil : $0
        }
    }

    private func asciiForm(_ lineEnd: LineEnd) -> [UInt8]? {
        let bytes = terminatedBytes(lineEnd)
        guard bytes.contains(where: { $0 > 127 }) else { return bytes }
        guard name.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        switch name.lowercased() {
        case "content-type", "content-disposition": return parametersInSevenBits(lineEnd)
        case "content-description": break
        case _ where isContentField: return nil
        default: break
        }
        return NewField(name, value: EncodedWord.encode(value)).bytes(lineEnd: lineEnd)
    }

    /// The maximum size of a field with encoded parameters in bytes.
    private static let longestParameters = 65_536

    /// The field with encoded parameters; nil if a parameter cannot be encoded.
    ///
    /// - Parameter longest: ASCII parameters of at most this size are not changed.
    private func parametersInSevenBits(_ lineEnd: LineEnd, longest: Int = .max) -> [UInt8]? {
        var output: [UInt8] = []
        let (pieces, end) = parameterPieces(lineEnd)
        for (number, piece) in pieces.enumerated() {
            guard piece.count > longest || piece.contains(where: { $0 > 127 }) else {
                output += piece
                continue
            }
            let name = String(mail: piece.dropFirst().prefix { $0 != UInt8(ascii: "=") }.trimmingBlanks()).lowercased()
            // A value that was split into sections cannot be split again in the same way.
            guard number > 0, !name.contains("*"), name.utf8.allSatisfy({ $0 < 128 }),
                let value = (Array("X: x/x".utf8) + piece + lineEnd.bytes).field
                    .flatMap({ ContentType(field: $0) })?.parameters[name]
            else { return nil }
            // The delimiter lines are not rewritten, so the boundary parameter must not change.
            guard name != "boundary" || value.utf8.allSatisfy({ $0 < 128 }) else { return nil }
            // No real parameter exceeds these limits. Each section repeats the name, and `FieldParameters` reads at most 1,000
            // sections.
            let sections = value.utf8.count / 20 + 2
            guard name.utf8.count <= 256, sections < 1_000,
                sections * (name.utf8.count + 16) + 3 * value.utf8.count + output.count <= Self.longestParameters
            else { return nil }
            for section in NewField.Parameter(name, value: value).sections {
                output += Array(";\(lineEnd.rawValue) \(section)".utf8)
            }
        }
        return output + end
    }
}

extension RandomAccessCollection<UInt8> {
    /// Whether a line has more than 998 bytes without its line end.
    fileprivate var hasLongLine: Bool {
        count > 998 && split(separator: .lineFeed).contains { $0.count > ($0.last == .carriageReturn ? 999 : 998) }
    }
}

extension Array<UInt8> {
    /// The maximum length of a line after folding, where possible.
    private static var foldedSize: Int { 900 }

    /// The field with a line break before blanks in lines that are too long. Unfolding restores the same bytes (RFC 5322
    /// §2.2.3).
    fileprivate func folded(_ lineEnd: LineEnd) -> [UInt8] {
        guard hasLongLine else { return self }
        var output: [UInt8] = []
        // `fold`: the last place where the line can be folded. `blanks`: the start of the blanks just before the current byte.
        var (lineStart, fold, blanks) = (0, Int?.none, Int?.none)
        for (index, byte) in enumerated() {
            if byte.isBlank {
                blanks = blanks ?? index
            } else {
                // A line of blanks, or one with blanks at its end, would be changed in transport.
                if byte != .carriageReturn, byte != .lineFeed, let blanks, blanks > lineStart { fold = blanks }
                blanks = nil
            }
            if index - lineStart > Self.foldedSize, let place = fold {
                output += self[lineStart..<place] + lineEnd.bytes
                (lineStart, fold) = (place, nil)
            }
            if byte == .lineFeed {
                output += self[lineStart...index]
                (lineStart, fold) = (index + 1, nil)
            }
        }
        return output + self[lineStart...]
    }

    /// The same header without anything that mail servers change: content fields have no trailing blanks, and at most one
    /// carriage return precedes a line feed.
    ///
    /// Other fields keep their trailing blanks, because the fields of an embedded message must not be changed.
    var asSafeHeader: [UInt8] {
        let clean = withoutReturnsBeforeLineEnds
        guard clean.hasBlankBeforeLineEnd, let header = try? HeaderBlock(parsing: clean) else { return clean }
        let before = header.leadingBytes + header.fields.flatMap(\.rawBytes)
        guard clean.starts(with: before) else { return clean }
        let fields = header.fields.flatMap { field in
            field.isContentField ? Array(field.rawBytes).withoutBlanksBeforeLineEnds : Array(field.rawBytes)
        }
        return header.leadingBytes + fields + clean[before.count...]
    }

    private var hasBlankBeforeLineEnd: Bool {
        zip(self, dropFirst()).contains { $0.isBlank && ($1 == .lineFeed || $1 == .carriageReturn) }
    }

    /// The lines of one field without trailing blanks. A line that contains only blanks is omitted, because it would
    /// end the header.
    private var withoutBlanksBeforeLineEnds: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for byte in self {
            guard byte == .lineFeed else {
                result.append(byte)
                continue
            }
            let hasReturn = result.last == .carriageReturn
            if hasReturn { result.removeLast() }
            while result.last?.isBlank == true { result.removeLast() }
            guard result.last != .lineFeed else { continue }
            result += hasReturn ? [.carriageReturn, byte] : [byte]
        }
        return result
    }

    /// The same lines with at most one carriage return before a line feed, and none at the end of the input. After conversion
    /// to bare line feeds, additional carriage returns would become part of the line end.
    private var withoutReturnsBeforeLineEnds: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for byte in self {
            while byte == .lineFeed, result.hasSuffix([.carriageReturn, .carriageReturn]) { result.removeLast() }
            result.append(byte)
        }
        while result.last == .carriageReturn { result.removeLast() }
        return result
    }
}
