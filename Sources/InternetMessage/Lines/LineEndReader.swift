package import ByteStreams

/// Converts all line ends to one kind while reading. Ranges with binary content are not changed.
///
/// If the target is CRLF, a bare LF becomes CRLF and a bare CR is kept (the canonical form of RFC 2049 §4). If the target is
/// LF, CRLF becomes LF.
package final class LineEndReader: ByteReader {
    private let upstream: any ByteReader
    private let lineEnd: LineEnd
    private var exempt: ArraySlice<Range<Int>>
    private let input = Window()
    private var unread = 0..<0
    /// The number of bytes that were read from `upstream` before `unread`.
    private var position = 0
    private var last: UInt8 = 0
    /// A byte for which the output had no room, or a CR whose next byte is not known yet; nil if there is none.
    private var pendingByte: UInt8?
    private var isAtEnd = false

    /// A reader of `upstream` with lines that end in `lineEnd`.
    ///
    /// - Parameter exempt: the ranges in `upstream`, in ascending order, that are not changed.
    package init(_ upstream: any ByteReader, lineEnd: LineEnd, exempt: [Range<Int>] = []) {
        self.upstream = upstream
        self.lineEnd = lineEnd
        self.exempt = exempt.filter { !$0.isEmpty }[...]
    }

    package func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        var written = 0
        while written < buffer.count {
            if unread.isEmpty {
                guard !isAtEnd else { break }
                unread = 0..<(try input.fill(from: upstream))
                isAtEnd = unread.isEmpty
            }
            if unread.isEmpty {
                written += writePending(into: &buffer, at: written)
            } else {
                var out = buffer.piece(written..<buffer.count)
                written +=
                    isExempt ? copyExempt(to: &out) : lineEnd == .crlf ? addReturns(to: &out) : dropReturns(to: &out)
            }
        }
        return written
    }

    private var isExempt: Bool {
        while let range = exempt.first, range.upperBound <= position { exempt.removeFirst() }
        return exempt.first.map { $0.contains(position) } ?? false
    }

    /// The number of unread bytes before the next exempt range.
    private var textCount: Int {
        min(unread.count, exempt.first.map { $0.lowerBound - position } ?? .max)
    }

    private func writePending(into buffer: inout MutableSpan<UInt8>, at index: Int) -> Int {
        guard let byte = pendingByte, index < buffer.count else { return 0 }
        buffer[index] = byte
        pendingByte = nil
        return 1
    }

    private func copyExempt(to out: inout MutableSpan<UInt8>) -> Int {
        let pendingCount = writePending(into: &out, at: 0)
        last = 0
        let end = exempt.first?.upperBound ?? position
        let count = min(unread.count, out.count - pendingCount, end - position)
        move(count, to: &out, at: pendingCount)
        return pendingCount + count
    }

    /// Copies `count` unread bytes unchanged.
    private func move(_ count: Int, to out: inout MutableSpan<UInt8>, at index: Int) {
        let input = input
        skip(out.copy(input[unread.prefix(count)], at: index))
    }

    private func skip(_ count: Int) {
        unread = unread.lowerBound + count..<unread.upperBound
        position += count
    }

    private func addReturns(to out: inout MutableSpan<UInt8>) -> Int {
        var written = writePending(into: &out, at: 0)
        let input = input
        let text = input[unread.prefix(textCount)]
        // The bytes between `from` and `seen` already have the right line ends and are copied in one piece.
        var (from, seen) = (0, 0)
        while case let end = min(text.count, from + out.count - written), from < end {
            let piece = text.extracting(first: end)
            guard let feed = piece.firstOffset(of: .lineFeed, from: seen) else {
                written += out.copy(piece.extracting(from..<end), at: written)
                from = end
                break
            }
            seen = feed + 1
            guard (feed > 0 ? text[feed - 1] : last) != .carriageReturn else { continue }
            written += out.copy(piece.extracting(from..<feed), at: written)
            out[written] = .carriageReturn
            pendingByte = .lineFeed
            written += 1 + writePending(into: &out, at: written + 1)
            from = seen
        }
        if from > 0 { last = text[from - 1] }
        skip(from)
        return written
    }

    private func dropReturns(to out: inout MutableSpan<UInt8>) -> Int {
        let input = input
        let text = input[unread.prefix(textCount)]
        if pendingByte != nil, text.first == .lineFeed { pendingByte = nil }
        var written = writePending(into: &out, at: 0)
        var (from, seen) = (0, 0)
        while case let end = min(text.count, from + out.count - written), from < end {
            let piece = text.extracting(first: end)
            let found = piece.firstOffset(of: .carriageReturn, from: seen)
            seen = (found ?? end) + 1
            if let found, found + 1 < text.count, text[found + 1] != .lineFeed { continue }
            written += out.copy(piece.extracting(from..<(found ?? end)), at: written)
            from = found.map { $0 + 1 } ?? end
            // Whether a CR at the end is kept depends on the first byte of the next window.
            if let found, found + 1 == text.count { pendingByte = .carriageReturn }
        }
        skip(from)
        return written
    }
}

extension ByteStream {
    /// The stream with lines that end in `lineEnd`, except in the ranges in `exempt`.
    package func lines(endingIn lineEnd: LineEnd, exempt: [Range<Int>] = []) -> ByteStream {
        ByteStream { LineEndReader(try makeReader(), lineEnd: lineEnd, exempt: exempt) }
    }
}
