import ByteStreams

/// Finds the lines of a source that start with two hyphens, at the speed of memory.
///
/// Only such lines can be boundaries; no other line is looked at.
struct LineScanner {
    /// A line that was looked for.
    struct Line<Match> {
        /// What it was recognised as.
        let match: Match
        /// Where the next line starts.
        let next: Int
        /// Where the line break before it starts.
        let previousEnd: Int
    }

    /// What the bytes of a line without its end, as many as a boundary may have with its padding, do not show.
    struct Context {
        /// Whether the line goes on behind them.
        let isCut: Bool
        /// Whether it is a line only for readers for which a carriage return alone ends a line.
        let isBehindReturn: Bool
    }

    /// A boundary of 70 characters with its hyphens, and plausible padding.
    private static let longestLine = 1_024

    private let source: any ByteSource
    private let end: Int
    private let window = Window()
    private var loaded = 0..<0

    init(_ source: any ByteSource, end: Int) {
        self.source = source
        self.end = end
    }

    /// The first line at or after `start`, itself the start of a line, that begins with two hyphens and that
    /// `match` knows.
    mutating func next<Match>(
        from start: Int,
        where match: (Span<UInt8>, Context) -> Match?
    ) throws(MIMEError) -> Line<Match>? {
        var position = start
        var isAtLineStart = true
        while position < end {
            try load(position, atLeast: 2)
            if isAtLineStart, starts(at: position), let line = try line(at: position, where: match) { return line }
            // Elsewhere a hyphen is only of interest after the end of a line.
            guard let lineEnd = nextEndBeforeHyphens(from: position) else {
                position = loaded.upperBound
                isAtLineStart = window[loaded.count - 1].endsLines
                continue
            }
            (position, isAtLineStart) = (lineEnd + 1, true)
        }
        return nil
    }

    /// Where, in the window from `start` on, a line feed or a carriage return stands in front of two hyphens.
    private func nextEndBeforeHyphens(from start: Int) -> Int? {
        let window = window
        let bytes = window.prefix(loaded.count)
        let first = start - loaded.lowerBound
        let hyphen = UInt8(ascii: "-")
        var offset = first
        while let found = bytes.firstOffset(of: hyphen, from: offset) {
            let mayBeTwo = found + 1 == bytes.count || bytes[found + 1] == hyphen
            if found > first, mayBeTwo, bytes[found - 1].endsLines { return loaded.lowerBound + found - 1 }
            offset = found + 1
            while offset < bytes.count, bytes[offset] == hyphen { offset += 1 }
        }
        return nil
    }

    private func starts(at position: Int) -> Bool {
        let offset = position - loaded.lowerBound
        return offset + 1 < loaded.count && window[offset] == UInt8(ascii: "-")
            && window[offset + 1] == UInt8(ascii: "-")
    }

    /// The line at `start`, unless `match` does not know it.
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
        // Taken from the window where possible: millions of lines may begin like this.
        let before = offset > 0 ? window[offset - 1] : try source.mailBytes(in: max(0, start - 1)..<start).last
        let context = Context(
            isCut: feed == nil && start + visible.count < end,
            isBehindReturn: before == .carriageReturn
        )
        guard let match = match(visible.extracting(first: length), context) else { return nil }
        let next = start + (feed.map { $0 + 1 } ?? visible.count)
        return Line(match: match, next: next, previousEnd: try endOfPrevious(start))
    }

    /// Where the line break before `start` starts.
    private func endOfPrevious(_ start: Int) throws(MIMEError) -> Int {
        let before = try source.mailBytes(in: max(0, start - 2)..<start)
        guard before.last == .lineFeed else { return start }
        return before.first == .carriageReturn && before.count == 2 ? start - 2 : start - 1
    }

    /// Makes the window hold `position` and, unless the source ends, `count` bytes from there.
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
    /// Whether a line ends here for some reader.
    fileprivate var endsLines: Bool { self == .lineFeed || self == .carriageReturn }
}
