public import Streams

/// Gives all lines the same end as they are read; places that hold binary content pass as they are.
///
/// To CRLF, a bare LF becomes CRLF and a bare CR stays (the canonical form of RFC 8551 §3.1.1); to LF, a CRLF
/// becomes LF.
public final class LineEndReader: ByteReader {
    private let upstream: any ByteReader
    private let lineEnd: LineEnd
    private var exempt: ArraySlice<Range<Int>>
    private let input = Window()
    private var unread = 0..<0
    /// How many bytes were taken from upstream's windows before `unread`.
    private var position = 0
    private var last: UInt8 = 0
    /// A byte that found no room, or a CR whose successor is not known yet.
    private var owed: UInt8?
    private var isAtEnd = false

    /// A reader of `upstream` with lines that end in `lineEnd`.
    ///
    /// - Parameter exempt: places in `upstream`, in ascending order, that are passed on unchanged.
    public init(_ upstream: any ByteReader, lineEnd: LineEnd, exempt: [Range<Int>] = []) {
        self.upstream = upstream
        self.lineEnd = lineEnd
        self.exempt = exempt.filter { !$0.isEmpty }[...]
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var written = 0
        while written < buffer.count {
            if unread.isEmpty {
                guard !isAtEnd else { break }
                unread = 0..<(try upstream.read(into: input.bytes))
                isAtEnd = unread.isEmpty
            }
            if unread.isEmpty {
                written += payOwed(into: buffer, at: written)
            } else {
                let out = UnsafeMutableRawBufferPointer(rebasing: buffer[written...])
                written +=
                    isExempt ? copyExempt(to: out) : lineEnd == .crlf ? addReturns(to: out) : dropReturns(to: out)
            }
        }
        return written
    }

    private var isExempt: Bool {
        while let range = exempt.first, range.upperBound <= position { exempt.removeFirst() }
        return exempt.first.map { $0.contains(position) } ?? false
    }

    /// How much of what is unread is text, up to the next exempt place.
    private var textCount: Int {
        min(unread.count, exempt.first.map { $0.lowerBound - position } ?? .max)
    }

    private func payOwed(into buffer: UnsafeMutableRawBufferPointer, at index: Int) -> Int {
        guard let byte = owed, index < buffer.count else { return 0 }
        buffer[index] = byte
        owed = nil
        return 1
    }

    private func copyExempt(to out: UnsafeMutableRawBufferPointer) -> Int {
        let paid = payOwed(into: out, at: 0)
        last = 0
        let end = exempt.first?.upperBound ?? position
        let count = min(unread.count, out.count - paid, end - position)
        move(count, to: out, at: paid)
        return paid + count
    }

    /// Copies `count` bytes of what is unread.
    private func move(_ count: Int, to out: UnsafeMutableRawBufferPointer, at index: Int) {
        guard count > 0 else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: input.bytes[unread.lowerBound..<unread.lowerBound + count])
        UnsafeMutableRawBufferPointer(rebasing: out[index...]).copyMemory(from: bytes)
        skip(count)
    }

    private func skip(_ count: Int) {
        unread = unread.lowerBound + count..<unread.upperBound
        position += count
    }

    private func find(_ byte: UInt8, within count: Int) -> Int? {
        let end = unread.lowerBound + count
        return input.prefix(end).firstOffset(of: byte, from: unread.lowerBound).map { $0 - unread.lowerBound }
    }

    private func addReturns(to out: UnsafeMutableRawBufferPointer) -> Int {
        var written = payOwed(into: out, at: 0)
        var text = textCount
        while text > 0, written < out.count {
            let room = min(text, out.count - written)
            let feed = find(.lineFeed, within: room)
            if let feed, (feed > 0 ? input.bytes[unread.lowerBound + feed - 1] : last) != .carriageReturn {
                move(feed, to: out, at: written)
                written += feed
                out[written] = .carriageReturn
                owed = .lineFeed
                skip(1)
                written += 1 + payOwed(into: out, at: written + 1)
                last = .lineFeed
                text -= feed + 1
            } else {
                let count = feed.map { $0 + 1 } ?? room
                last = input.bytes[unread.lowerBound + count - 1]
                move(count, to: out, at: written)
                written += count
                text -= count
            }
        }
        return written
    }

    private func dropReturns(to out: UnsafeMutableRawBufferPointer) -> Int {
        var written = 0
        var text = textCount
        if owed != nil {
            if text > 0, input.bytes[unread.lowerBound] == .lineFeed { owed = nil }
            written = payOwed(into: out, at: 0)
        }
        while text > 0, written < out.count {
            let room = min(text, out.count - written)
            let count = find(.carriageReturn, within: room) ?? room
            move(count, to: out, at: written)
            written += count
            text -= count
            guard count < room else { continue }
            // Whether this CR stays depends on the byte after it, which may be in the next window.
            skip(1)
            text -= 1
            owed = .carriageReturn
            guard text > 0 else { break }
            if input.bytes[unread.lowerBound] == .lineFeed {
                owed = nil
            } else {
                written += payOwed(into: out, at: written)
            }
        }
        return written
    }
}

extension ByteStream {
    /// These bytes with lines that end in `lineEnd`, but for the places in `exempt`.
    public func lines(endingIn lineEnd: LineEnd, exempt: [Range<Int>] = []) -> ByteStream {
        ByteStream { LineEndReader(try makeReader(), lineEnd: lineEnd, exempt: exempt) }
    }
}
