import Foundation
import Streams

/// Finds the lines of a source that start with two hyphens, at the speed of memory.
///
/// Only such lines can be boundaries; no other line is looked at.
struct LineScanner {
    /// A line that may be a boundary.
    struct Line {
        /// Where it starts and where the next one starts.
        let range: Range<Int>
        /// Where the line break before it starts.
        let previousEnd: Int
        /// Its bytes without line end and without blanks at the end.
        let content: [UInt8]
    }

    /// A boundary of 70 characters with its hyphens, and as much padding as anybody may have added.
    private static let longestLine = 1_024
    private static let hyphen = CInt(UInt8(ascii: "-"))

    private let source: any ByteSource
    private let end: Int
    private let window = Window()
    private var loaded = 0..<0

    init(_ source: any ByteSource, end: Int) {
        self.source = source
        self.end = end
    }

    /// The first line that starts with two hyphens at or after `start`, itself the start of a line.
    mutating func nextCandidate(from start: Int) throws(MIMEError) -> Line? {
        var position = start
        var isAtLineStart = true
        while position < end {
            try load(position, atLeast: 2)
            if isAtLineStart, starts(at: position), let line = try line(at: position) { return line }
            // Elsewhere a hyphen is only of interest after a line feed.
            guard let feed = nextFeedBeforeHyphens(from: position) else {
                position = loaded.upperBound
                isAtLineStart = window.bytes[loaded.count - 1] == .lineFeed
                continue
            }
            (position, isAtLineStart) = (feed + 1, true)
        }
        return nil
    }

    /// Where, in the window from `start` on, a line feed stands in front of a hyphen.
    private func nextFeedBeforeHyphens(from start: Int) -> Int? {
        guard let base = window.bytes.baseAddress else { return nil }
        let (first, last) = (start - loaded.lowerBound, loaded.count)
        var offset = first
        while offset < last, let found = memchr(base + offset, Self.hyphen, last - offset) {
            let hyphen = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if hyphen > first, window.bytes[hyphen - 1] == .lineFeed { return loaded.lowerBound + hyphen - 1 }
            // A line full of hyphens is left with one call.
            guard let feed = memchr(base + hyphen, CInt(UInt8.lineFeed), last - hyphen) else { return nil }
            offset = UnsafeRawPointer(feed) - UnsafeRawPointer(base)
        }
        return nil
    }

    private func starts(at position: Int) -> Bool {
        let offset = position - loaded.lowerBound
        return offset + 1 < loaded.count && window.bytes[offset] == UInt8(ascii: "-")
            && window.bytes[offset + 1] == UInt8(ascii: "-")
    }

    /// The line at `start`, unless it is longer than any boundary.
    private mutating func line(at start: Int) throws(MIMEError) -> Line? {
        try load(start, atLeast: Self.longestLine)
        let offset = start - loaded.lowerBound
        let visible = window.bytes[offset..<min(loaded.count, offset + Self.longestLine)]
        let feed = visible.firstIndex(of: .lineFeed)
        guard feed != nil || loaded.lowerBound + visible.endIndex == end else { return nil }
        var content = Array(visible[..<(feed ?? visible.endIndex)])
        if feed != nil, content.last == .carriageReturn { content.removeLast() }
        while let last = content.last, last.isBlank { content.removeLast() }
        let next = feed.map { loaded.lowerBound + $0 + 1 } ?? loaded.lowerBound + visible.endIndex
        return Line(range: start..<next, previousEnd: try endOfPrevious(start), content: content)
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
        let length = min(window.bytes.count, end - position)
        while filled < length, position + filled < wanted || filled == 0 {
            let rest = UnsafeMutableRawBufferPointer(rebasing: window.bytes[filled..<length])
            let read: Int
            do throws(StreamError) {
                read = try source.read(into: rest, at: position + filled)
            } catch {
                throw .unreadable(error)
            }
            guard read > 0 else { throw .unreadable(.changedWhileReading) }
            filled += read
        }
        loaded = position..<position + filled
    }
}
