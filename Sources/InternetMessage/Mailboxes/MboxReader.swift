package import ByteStreams

/// Finds the messages of a mailbox file of any size, one after the other.
///
/// A message begins with a line that consists of "From ", a sender and a date, at the start of the file or after an empty
/// line.
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

    /// Whether `source` begins like a mailbox.
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
