import ByteStreams

/// Finds the lines of a source that start with two hyphens.
///
/// Only such lines can be boundaries; all other lines are skipped. On request, hyphens inside of a line are found, too.
struct LineScanner {
    /// A position, and whether a line starts there.
    struct Place {
        let position: Int
        var isLineStart = true
    }

    /// A line that was found.
    struct Line<Match> {
        /// The result of the caller's `match` for the line.
        let match: Match
        /// Where to continue.
        let next: Place
        /// The start of the CRLF or LF before the line; the start of the line if neither precedes it.
        let previousEnd: Int
    }

    /// Properties of a line that the bytes passed to `match` do not show. These bytes are the line without its line end, cut
    /// to `longestLine` bytes.
    struct Context {
        /// Whether the line is longer than the bytes.
        let isCut: Bool
        /// Whether the line starts after a bare carriage return, so that it is a line only for some programs.
        let isBehindReturn: Bool
        /// Whether the bytes are not a line, but begin inside of one.
        var isInsideLine = false
    }

    /// The number of bytes that `match` receives at most: a boundary of 70 characters with its hyphens, and padding of
    /// plausible length.
    private static let longestLine = 1_024

    private let source: any ByteSource
    private let end: Int
    private let window = Window()
    private var loaded = 0..<0

    init(_ source: any ByteSource, end: Int) {
        self.source = source
        self.end = end
    }

    /// Programs that read long lines in pieces have room for at least this many bytes.
    private static let shortestPiece = 250
    /// The maximum number of hyphens that matter before other text: two, and the 70 that a boundary may have.
    private static let longestRun = 72

    /// The first line at or after `start` that begins with two hyphens and for which `match` returns a value; nil if there is
    /// none.
    ///
    /// - Parameter inside: the bytes that make hyphens inside a line matter. Hyphens before one of these bytes are also passed
    ///   to `match` if only blanks or one byte, or at least 250 bytes, precede the hyphens in their line.
    mutating func next<Match>(
        from start: Place,
        before inside: [UInt8],
        where match: (Span<UInt8>, Context) -> Match?
    ) throws(MIMEError) -> Line<Match>? {
        var place = start
        while place.position < end {
            try load(place.position, atLeast: 2)
            if starts(at: place.position) {
                let line =
                    if place.isLineStart {
                        try line(at: place.position, where: match)
                    } else if !inside.isEmpty {
                        try piece(at: place.position, where: match)
                    } else {
                        Line<Match>?.none
                    }
                if let line { return line }
            }
            // Hyphens matter only at the start of a line, or on request inside of one.
            place =
                nextHyphens(from: place.position, before: inside)
                ?? Place(position: loaded.upperBound, isLineStart: window[loaded.count - 1].endsLines)
        }
        return nil
    }

    /// The next two hyphens in the window after `start` that begin a line, or are inside of one before a byte of `inside`; nil
    /// if there are none. Of a long run of hyphens inside a line, only the end counts.
    private func nextHyphens(from start: Int, before inside: [UInt8]) -> Place? {
        let window = window
        let bytes = window.prefix(loaded.count)
        let first = start - loaded.lowerBound
        let hyphen = UInt8(ascii: "-")
        var offset = first
        while let found = bytes.firstOffset(of: hyphen, from: offset) {
            offset = found + 1
            while offset < bytes.count, bytes[offset] == hyphen { offset += 1 }
            guard offset - found > 1 || offset == bytes.count else { continue }
            if found > first, bytes[found - 1].endsLines { return Place(position: loaded.lowerBound + found) }
            guard !inside.isEmpty, offset == bytes.count || inside.contains(bytes[offset]) else { continue }
            let tail = max(found, offset - Self.longestRun)
            guard tail > first else { continue }
            return Place(position: loaded.lowerBound + tail, isLineStart: false)
        }
        return nil
    }

    private func starts(at position: Int) -> Bool {
        let offset = position - loaded.lowerBound
        return offset + 1 < loaded.count && window[offset] == UInt8(ascii: "-")
            && window[offset + 1] == UInt8(ascii: "-")
    }

    /// The line at `start`; nil if `match` returns nil for it.
    private mutating func line<Match>(
        at start: Int,
        where match: (Span<UInt8>, Context) -> Match?
    ) throws(MIMEError) -> Line<Match>? {
        try load(start, atLeast: Self.longestLine)
        let offset = start - loaded.lowerBound
        let window = window
        let visible = window[offset..<min(loaded.count, offset + Self.longestLine)]
        let feed = visible.firstOffset(of: .lineFeed)
        var length = feed ?? visible.count
        if feed != nil, length > 0, visible[length - 1] == .carriageReturn { length -= 1 }
        let before = try lineBreak(before: start)
        let context = Context(
            isCut: feed == nil && start + visible.count < end,
            isBehindReturn: before.last == .carriageReturn
        )
        guard let match = match(visible.extracting(first: length), context) else { return nil }
        let next = Place(position: start + (feed.map { $0 + 1 } ?? visible.count), isLineStart: feed != nil)
        guard before.last == .lineFeed else { return Line(match: match, next: next, previousEnd: start) }
        return Line(match: match, next: next, previousEnd: start - (before.first == .carriageReturn ? 2 : 1))
    }

    /// The match at `start`, which is inside of a line; nil if `match` returns nil, or if no program takes `start` for the
    /// beginning of a line (`mayBeginLine`).
    private mutating func piece<Match>(
        at start: Int,
        where match: (Span<UInt8>, Context) -> Match?
    ) throws(MIMEError) -> Line<Match>? {
        try load(start, atLeast: Self.longestLine)
        let offset = start - loaded.lowerBound
        let window = window
        let visible = window[offset..<min(loaded.count, offset + Self.longestLine)]
        let context = Context(isCut: false, isBehindReturn: false, isInsideLine: true)
        guard let match = match(visible, context), try mayBeginLine(start) else { return nil }
        return Line(match: match, next: Place(position: start, isLineStart: false), previousEnd: start)
    }

    /// Whether some program takes `position` for the beginning of a line: only blanks or one byte precede it in its line, or at
    /// least `shortestPiece` bytes.
    private func mayBeginLine(_ position: Int) throws(MIMEError) -> Bool {
        let count = min(position, Self.shortestPiece)
        let offset = position - loaded.lowerBound
        guard offset < count else {
            // The window is used if possible, because millions of lines may begin like a boundary.
            let window = window
            return Self.mayBeginLine(behind: count) { window[offset - $0] }
        }
        let before = try source.mailBytes(in: (position - count)..<position)
        return Self.mayBeginLine(behind: before.count) { before[before.count - $0] }
    }

    /// - Parameter byte: the bytes before the place: 1 is the last of them, and `count` the first.
    private static func mayBeginLine(behind count: Int, _ byte: (Int) -> UInt8) -> Bool {
        var length = 0
        while length < count, !byte(length + 1).endsLines { length += 1 }
        guard length > 1, length < shortestPiece else { return true }
        return (1...length).allSatisfy { byte($0).isBlank }
    }

    /// The last two bytes before `start`; nil where the source has fewer.
    private func lineBreak(before start: Int) throws(MIMEError) -> (first: UInt8?, last: UInt8?) {
        // The window is used if possible, because millions of lines may begin like a boundary.
        let offset = start - loaded.lowerBound
        if offset > 1 { return (window[offset - 2], window[offset - 1]) }
        let bytes = try source.mailBytes(in: max(0, start - 2)..<start)
        return (bytes.count > 1 ? bytes.first : nil, bytes.last)
    }

    /// Loads the window so that it contains `position` and at least `count` bytes from there, unless the source ends before.
    private mutating func load(_ position: Int, atLeast count: Int) throws(MIMEError) {
        let wanted = min(position + count, end)
        guard position < loaded.lowerBound || wanted > loaded.upperBound else { return }
        var filled = 0
        let length = min(window.count, end - position)
        while filled < length, position + filled < wanted || filled == 0 {
            guard !Task.isCancelled else { throw .unreadable(.cancelled) }
            let read: Int
            do throws(StreamError) {
                read = try window.fill(filled..<length, from: source, at: position + filled)
            } catch {
                throw .unreadable(error)
            }
            guard read > 0 else { throw .unreadable(.changedWhileReading) }
            filled += read
        }
        loaded = position..<position + filled
    }
}

extension UInt8 {
    /// Whether some program ends a line at this byte.
    fileprivate var endsLines: Bool { self == .lineFeed || self == .carriageReturn }
}
