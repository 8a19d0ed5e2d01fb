import ByteStreams

/// The boundaries of the multiparts around the current position of a scan, and what a line means to them.
struct OpenBoundaries {
    private struct Level {
        /// Nil for an entity without parts, and after the last part.
        var boundary: [UInt8]?
        /// Whether the multipart is signed, and not yet known to be contradictory.
        var isWatched: Bool
    }

    /// The meaning of a line for the multiparts around it.
    enum Mark {
        /// The delimiter of `level`. For some programs it is also the delimiter of `other`.
        case delimiter(level: Int, isClosing: Bool, other: Int?)
        /// A line that begins like the delimiter of `level`. If `isMere` is true, only blanks and control characters follow.
        case likeness(level: Int, isMere: Bool)
        /// Bytes in the signed multipart at `level` that some programs take for its delimiter. Some only compare the beginning
        /// of a line, at which no boundary may stand (RFC 2046 §5.1.1), and some ignore text after a closing delimiter.
        case contradiction(level: Int)
    }

    private var levels: [Level] = []

    private static let hyphens = Array("--".utf8)

    /// Whether there is nothing to look for.
    var isEmpty: Bool { levels.allSatisfy { $0.boundary == nil } }

    /// The first bytes, after the hyphens, of the boundaries that are also looked for elsewhere than at the start of a line.
    var watchedBytes: [UInt8] {
        levels.filter(\.isWatched).compactMap { level in
            level.boundary?.first { $0 != UInt8(ascii: "-") }
        }
        .flatMap { [$0.lowercased, $0.uppercased] }
    }

    /// Adds the level of an entity.
    mutating func open(_ type: ContentType) {
        levels.append(Level(boundary: type.boundary, isWatched: type.isSigned))
    }

    mutating func closeInnermost() { levels.removeLast() }

    /// Ends the parts of the multipart at `level`.
    mutating func closeParts(of level: Int) { levels[level].boundary = nil }

    mutating func stopWatching(_ level: Int) { levels[level].isWatched = false }

    /// The meaning of `line`; nil if it has none.
    ///
    /// A delimiter is that of the innermost multipart with this boundary. In a signed multipart, boundaries are also compared
    /// as other programs do: without case, and only with the beginning of the line.
    func mark(of line: Span<UInt8>, _ context: LineScanner.Context) -> Mark? {
        guard !context.isInsideLine else { return markInside(line) }
        let isWhole = !context.isCut && !context.isBehindReturn
        var found: (level: Int, isClosing: Bool)?
        var (likeness, contradiction, other) = (Mark?.none, Int?.none, Int?.none)
        for level in levels.indices.reversed() {
            let isWatched = levels[level].isWatched
            guard let boundary = levels[level].boundary, line.has(boundary, at: 2, ignoringCase: isWatched) else {
                continue
            }
            if isWhole, let isClosing = Self.closing(line, boundary) {
                if found != nil { other = other ?? level }
                found = found ?? (level, isClosing)
            } else if isWatched {
                contradiction = contradiction ?? level
            } else if likeness == nil {
                let rest = line.extracting((2 + boundary.count)...)
                let padding = rest.has(Self.hyphens) ? rest.extracting(2...) : rest
                likeness = .likeness(level: level, isMere: padding.allSatisfy { $0 <= 32 || $0 >= 127 })
            }
        }
        if let found {
            return .delimiter(level: found.level, isClosing: found.isClosing, other: other ?? contradiction)
        }
        return contradiction.map { .contradiction(level: $0) } ?? likeness
    }

    /// Whether `line` is the closing delimiter of `boundary`; nil if it is no delimiter.
    private static func closing(_ line: Span<UInt8>, _ boundary: [UInt8]) -> Bool? {
        guard line.has(boundary, at: 2) else { return nil }
        let rest = line.extracting((2 + boundary.count)...)
        let isClosing = rest.has(hyphens)
        return (isClosing ? rest.extracting(2...) : rest).allSatisfy(\.isBlank) ? isClosing : nil
    }

    /// Whether the header of a signature, which no signature covers, contains what other programs take for delimiters.
    ///
    /// Some programs end lines at a bare carriage return, and some join a line with a NUL and the next line.
    func contradicts(_ header: HeaderBlock, of level: Int) -> Bool {
        guard let boundary = levels[level].boundary,
            header.defects.isDisjoint(with: [.bareCR, .blankBeforeColon, .missingHeaderEnd, .nul])
        else {
            return true
        }
        let bytes = header.bytes.map(\.lowercased)
        return bytes.octets.firstOffset(of: Self.hyphens + boundary.map(\.lowercased)) != nil
    }

    /// The meaning of `text`, which begins with hyphens, but not at the start of a line. Some programs take it for a line:
    /// those that ignore blanks or one byte before it, and those that read long lines in pieces of 250 bytes or more.
    private func markInside(_ text: Span<UInt8>) -> Mark? {
        let run = (0..<text.count).first { text[$0] != UInt8(ascii: "-") } ?? text.count
        for level in levels.indices.reversed() where levels[level].isWatched {
            guard let boundary = levels[level].boundary else { continue }
            // The hyphens of the boundary are the last ones of the run.
            guard let hyphens = boundary.firstIndex(where: { $0 != UInt8(ascii: "-") }) else { continue }
            if run >= hyphens + 2, text.has(boundary, at: run - hyphens, ignoringCase: true) {
                return .contradiction(level: level)
            }
        }
        return nil
    }
}

extension Span<UInt8> {
    /// Whether the bytes at `index` are `word`, if requested without regard to the case of ASCII letters.
    fileprivate func has(_ word: [UInt8], at index: Int, ignoringCase: Bool) -> Bool {
        guard ignoringCase else { return has(word, at: index) }
        guard word.count <= count - index else { return false }
        return word.indices.allSatisfy { self[index + $0].lowercased == word[$0].lowercased }
    }
}
