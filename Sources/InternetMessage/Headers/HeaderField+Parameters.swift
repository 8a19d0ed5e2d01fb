import ByteStreams

extension HeaderField {
    /// The field's bytes with the parameter `name="value"` after all others.
    ///
    /// `removingParameters` restores the original bytes.
    package func appendingParameter(_ name: String, value: String, _ lineEnd: LineEnd) -> [UInt8] {
        var bytes = closedBytes(lineEnd)
        let end = bytes.hasSuffix([.carriageReturn, .lineFeed]) ? 2 : 1
        bytes.insert(contentsOf: Array(";\(lineEnd.rawValue) \(name)=\"\(value)\"".utf8), at: bytes.count - end)
        return bytes
    }

    /// The field's bytes without the parameters called `names`, which must be in lower case.
    package func removingParameters(_ names: Set<String>, _ lineEnd: LineEnd) -> [UInt8] {
        var output: [UInt8] = []
        let (pieces, end) = parameterPieces(lineEnd)
        for (number, piece) in pieces.enumerated() {
            let name = String(mail: piece.dropFirst().prefix { $0 != UInt8(ascii: "=") }.trimmingBlanks()).lowercased()
            if number == 0 || !names.contains(name) { output += piece }
        }
        return output + end
    }

    /// The field, divided before each semicolon that separates parameters, and its line end.
    func parameterPieces(_ lineEnd: LineEnd) -> (pieces: [ArraySlice<UInt8>], end: ArraySlice<UInt8>) {
        let bytes = closedBytes(lineEnd)
        let end = bytes.count - (bytes.hasSuffix([.carriageReturn, .lineFeed]) ? 2 : 1)
        return (Self.pieces(bytes[..<end]), bytes[end...])
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var (isQuoted, isEscaped, depth) = (false, false, 0)
        for index in bytes.indices {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch bytes[index] {
            case UInt8(ascii: "\\"): isEscaped = isQuoted || depth > 0
            case UInt8(ascii: "\"") where depth == 0: isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted && depth > 0: depth -= 1
            case UInt8(ascii: ";") where !isQuoted && depth == 0:
                pieces.append(bytes[start..<index])
                start = index
            default: break
            }
        }
        return pieces + [bytes[start...]]
    }
}

extension Array<UInt8> {
    /// The header field with these bytes; nil if they are not a header field.
    package var field: HeaderField? { (try? HeaderBlock(parsing: self))?.fields.first }

    func hasSuffix(_ other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}
