import ByteStreams

/// The boundaries of the multiparts around the current position of a scan, and what a line means to them.
struct OpenBoundaries {
    /// The boundaries of one level. They are nil for an entity without parts, and after the last part.
    private struct Level {
        var boundary: [UInt8]?
        /// `ContentType.shortBoundary`
        var short: [UInt8]?
        /// Whether the multipart is signed, and not yet known to be contradictory.
        var isWatched: Bool
    }

    /// A position in a signed multipart that no signature covers: in its preamble, in its epilogue, or in the signature.
    struct Bareness {
        let level: Int
        /// Whether the position is in the preamble or epilogue. A signature may have lines with hyphens (RFC 3156 §5).
        let isBetweenParts: Bool
    }

    /// The meaning of a line for the multiparts around it.
    enum Mark {
        /// The delimiter of `level`. For some programs it is also the delimiter of `other`.
        case delimiter(level: Int, isClosing: Bool, other: Int?)
        /// A line that begins like the delimiter of `level`. If `isMere` is true, only blanks and control characters follow.
        case likeness(level: Int, isMere: Bool)
        /// Bytes that are a delimiter only for programs that read the multipart at `level` differently.
        case contradiction(level: Int)
    }

    private var levels: [Level] = []
    private var bareness: Bareness?

    private static let hyphens = Array("--".utf8)

    /// Whether there is nothing to look for.
    var isEmpty: Bool { bareness == nil && levels.allSatisfy { $0.boundary == nil } }

    /// Whether boundaries far inside of lines are looked for.
    var isWatching: Bool { levels.contains { $0.isWatched && $0.boundary != nil } }

    /// The boundaries for a scan at a position with this bareness.
    func looking(at bareness: Bareness?) -> Self {
        var boundaries = self
        boundaries.bareness = bareness
        return boundaries
    }

    /// Adds the level of an entity.
    mutating func open(_ type: ContentType) {
        levels.append(Level(boundary: type.boundary, short: type.shortBoundary, isWatched: type.isSigned))
    }

    mutating func closeInnermost() { levels.removeLast() }

    /// Ends the parts of the multipart at `level`.
    mutating func closeParts(of level: Int) { (levels[level].boundary, levels[level].short) = (nil, nil) }

    mutating func stopWatching(_ level: Int) { levels[level].isWatched = false }

    /// The meaning of `line`; nil if it has none.
    ///
    /// A delimiter is that of the innermost multipart with this boundary.
    func mark(of line: Span<UInt8>, _ context: LineScanner.Context) -> Mark? {
        guard !context.isInsideLine else { return markInside(line) }
        let isWhole = !context.isCut && !context.isBehindReturn
        var (found, likeness) = ((level: Int, isClosing: Bool)?.none, Mark?.none)
        var other: Int?
        for level in levels.indices.reversed() {
            if let short = levels[level].short, isWhole, Self.closing(line, short) != nil { other = other ?? level }
            guard let boundary = levels[level].boundary, line.has(boundary, at: 2) else { continue }
            if isWhole, let isClosing = Self.closing(line, boundary) {
                if found != nil { other = other ?? level }
                found = found ?? (level, isClosing)
            } else if likeness == nil {
                let rest = line.extracting((2 + boundary.count)...)
                let padding = rest.has(Self.hyphens) ? rest.extracting(2...) : rest
                likeness = .likeness(level: level, isMere: padding.allSatisfy { $0 <= 32 || $0 >= 127 })
            }
        }
        if let found { return .delimiter(level: found.level, isClosing: found.isClosing, other: other) }
        if let other { return .contradiction(level: other) }
        return likeness ?? bareMark(of: line)
    }

    /// Whether `line` is the closing delimiter of `boundary`; nil if it is no delimiter.
    private static func closing(_ line: Span<UInt8>, _ boundary: [UInt8]) -> Bool? {
        guard line.has(boundary, at: 2) else { return nil }
        let rest = line.extracting((2 + boundary.count)...)
        let isClosing = rest.has(hyphens)
        return (isClosing ? rest.extracting(2...) : rest).allSatisfy(\.isBlank) ? isClosing : nil
    }

    /// The meaning of a line that no boundary explains.
    ///
    /// Between the parts, a line of hyphens and text can only be meant for programs that find another boundary.
    private func bareMark(of line: Span<UInt8>) -> Mark? {
        guard let bareness, bareness.isBetweenParts else { return nil }
        let text = (0..<line.count).first { line[$0] != UInt8(ascii: "-") }
        guard let text, !line[text].isBlank else { return nil }
        return .contradiction(level: bareness.level)
    }

    /// The meaning of hyphens and text far inside of a line, where another line begins for programs that read long lines in
    /// pieces.
    private func markInside(_ text: Span<UInt8>) -> Mark? {
        let run = (0..<text.count).first { text[$0] != UInt8(ascii: "-") } ?? text.count
        for level in levels.indices.reversed() where levels[level].isWatched {
            guard let boundary = levels[level].boundary else { continue }
            // The hyphens of the boundary are the last ones of the run.
            let hyphens = boundary.firstIndex { $0 != UInt8(ascii: "-") } ?? boundary.count
            if run >= hyphens + 2, text.has(boundary, at: run - hyphens) { return .contradiction(level: level) }
        }
        return nil
    }
}
