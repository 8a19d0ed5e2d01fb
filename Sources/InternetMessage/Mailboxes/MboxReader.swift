package import ByteStreams

/// Finds the messages of an mbox file of any size, one after the other.
///
/// The first message begins at the start of the file. Each further one begins with a line that follows an empty line, starts
/// with "From ", and contains a time and a year.
///
/// RFC 4155
package struct MboxReader {
    private static let mark = Array("From ".utf8)
    /// The maximum number of bytes of a line that are searched for a date.
    private static let longestLine = 1_024

    private let source: any ByteSource
    private let window = Window()
    private var loaded = 0..<0
    /// The start of the next message.
    private var start = 0

    package init(_ source: any ByteSource) { self.source = source }

    /// Whether `source` begins like an mbox file.
    ///
    /// - Throws: `MIMEError.unreadable`
    package static func isMbox(_ source: any ByteSource) throws(MIMEError) -> Bool {
        isMark(try source.mailBytes(in: 0..<min(source.count, longestLine)))
    }

    /// The range of the next message, including its From line; nil after the last message.
    ///
    /// - Throws: `MIMEError.unreadable`
    package mutating func next() throws(MIMEError) -> Range<Int>? {
        guard start < source.count else { return nil }
        let end = try nextMark(after: start) ?? source.count
        defer { start = end }
        return start..<end
    }

    /// The start of the first line after the line at `position` that begins a message; nil if there is none.
    private mutating func nextMark(after position: Int) throws(MIMEError) -> Int? {
        var position = position
        while position < source.count {
            try load(position)
            let window = window
            let bytes = window.prefix(loaded.count)
            while let feed = bytes.firstOffset(of: .lineFeed, from: position - loaded.lowerBound) {
                position = loaded.lowerBound + feed + 1
                let mayBeMark = feed + 1 >= bytes.count || bytes[feed + 1] == Self.mark[0]
                if mayBeMark, try beginsMessage(at: position) { return position }
            }
            position = loaded.upperBound
        }
        return nil
    }

    private func beginsMessage(at position: Int) throws(MIMEError) -> Bool {
        let line = try source.mailBytes(in: position..<min(source.count, position + Self.longestLine))
        guard Self.isMark(line) else { return false }
        let before = try source.mailBytes(in: max(0, position - 3)..<position)
        return before.suffix(2) == [.lineFeed, .lineFeed] || before == [.lineFeed, .carriageReturn, .lineFeed]
    }

    /// Whether `bytes` begin with "From ", and a time and a year follow on the same line, which is rare in prose.
    private static func isMark(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: mark) else { return false }
        let line = bytes.prefix { $0 != .lineFeed }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let words = line.split { $0 != UInt8(ascii: ":") && !digits.contains($0) }
        let isTime = words.contains { word in
            let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            return (2...3).contains(parts.count) && parts.allSatisfy { $0.count == 2 }
        }
        return isTime && words.contains { $0.count == 4 && !$0.contains(UInt8(ascii: ":")) }
    }

    private mutating func load(_ position: Int) throws(MIMEError) {
        guard !loaded.contains(position) else { return }
        let range = 0..<min(window.count, source.count - position)
        let count: Int
        do throws(StreamError) { count = try window.fill(range, from: source, at: position) } catch {
            throw .unreadable(error)
        }
        guard count > 0 else { throw .unreadable(.changedWhileReading) }
        loaded = position..<position + count
    }
}

/// Removes the quoting of lines that begin with "From " in mbox files.
///
/// Programs that write mbox files put ">" in front of such lines, so that no message seems to begin there. In the format
/// "mboxrd", lines that already begin with ">" and "From " get another ">". RFC 4155
package enum MboxQuoting {
    private static let mark = Array("From ".utf8)

    /// `message` with one ">" removed from every quoted line; nil if there is no such line.
    ///
    /// - Throws: errors of reading and spooling.
    package static func undone(in message: any ByteSource) throws -> (any ByteSource)? {
        let spool = Spool()
        var undoing = Undoing()
        let reader = message.reader()
        let window = Window()
        while true {
            let count = try window.fill(from: reader)
            guard count > 0 else { break }
            try spool.write(undoing.bytes(for: window.prefix(count)))
        }
        try spool.write(undoing.rest)
        return undoing.isNeeded ? try spool.finish() : nil
    }

    /// The position within a line. The last ">" before a possible "From " is held back until it is clear whether the line is
    /// quoted.
    private enum Place {
        case start
        /// After ">".
        case quoted
        /// After ">" and this number of bytes of "From ".
        case mark(Int)
        case elsewhere
    }

    private struct Undoing {
        private(set) var isNeeded = false
        private var place = Place.start

        /// The bytes that are held back.
        var rest: [UInt8] {
            switch place {
            case .quoted: [UInt8(ascii: ">")]
            case .mark(let count): [UInt8(ascii: ">")] + mark.prefix(count)
            case .start, .elsewhere: []
            }
        }

        mutating func bytes(for input: Span<UInt8>) -> [UInt8] {
            var output: [UInt8] = []
            output.reserveCapacity(input.count + 16)
            for index in input.indices { add(input[index], to: &output) }
            return output
        }

        private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
            switch place {
            case .elsewhere: break
            case .start where byte == UInt8(ascii: ">"):
                place = .quoted
                return
            case .start: break
            case .quoted where byte == mark[0]:
                place = .mark(1)
                return
            case .quoted where byte == UInt8(ascii: ">"):
                output.append(byte)
                return
            case .mark(let count) where byte == mark[count]:
                guard count + 1 == mark.count else {
                    place = .mark(count + 1)
                    return
                }
                isNeeded = true
                output += mark
                place = .elsewhere
                return
            case .quoted, .mark: output += rest
            }
            output.append(byte)
            place = byte == .lineFeed ? .start : .elsewhere
        }
    }
}
