/// One walk over the lines of a header.
struct HeaderScan {
    let bytes: [UInt8]
    private(set) var extents: [HeaderField.Extent] = []
    private(set) var defects: Set<MIMEDefect> = []
    private(set) var lineEnd: LineEnd?
    /// Where the fields end, and where the empty line after them ends.
    private(set) var fieldsEnd = 0
    private(set) var end = 0

    private let isMessage: Bool

    init(_ bytes: [UInt8], isMessage: Bool) {
        self.bytes = bytes
        self.isMessage = isMessage
    }

    /// Walks to the header's end; false if `bytes` end before it and are not all there is.
    mutating func run(isWhole: Bool, isDelimiter: (ArraySlice<UInt8>) -> Bool) -> Bool {
        var start = skipByteOrderMark()
        let top = start
        while start < bytes.count {
            let feed = firstIndex(of: .lineFeed, from: start)
            guard feed != nil || isWhole else { return false }
            let next = feed.map { $0 + 1 } ?? bytes.count
            let content = bytes[start..<(feed.map(contentEnd) ?? bytes.count)]
            if content.isEmpty {
                note(feed, contentEnd: content.endIndex)
                return finish(fieldsEnd: start, end: next)
            }
            if content.starts(with: "--".utf8), isDelimiter(content) { return finish(fieldsEnd: start, end: start) }
            if isMessage, start == top, isMailboxLine(content) {
                defects.insert(.mboxLine)
            } else if content.first?.isBlank == true, !extents.isEmpty {
                extents[extents.count - 1].end = Int32(next)
            } else if !addField(content, end: next) {
                defects.insert(.missingHeaderEnd)
                return finish(fieldsEnd: start, end: start)
            }
            note(feed, contentEnd: content.endIndex)
            start = next
        }
        return isWhole && finish(fieldsEnd: bytes.count, end: bytes.count)
    }

    private mutating func finish(fieldsEnd: Int, end: Int) -> Bool {
        self.fieldsEnd = fieldsEnd
        self.end = end
        if let nul = firstIndex(of: 0, from: 0), nul < fieldsEnd { defects.insert(.nul) }
        if hasBareReturn(before: fieldsEnd) { defects.insert(.bareCR) }
        return true
    }

    private func hasBareReturn(before end: Int) -> Bool {
        var position = 0
        while let found = firstIndex(of: .carriageReturn, from: position), found < end {
            guard found + 1 < end, bytes[found + 1] == .lineFeed else { return true }
            position = found + 2
        }
        return false
    }

    private func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        bytes.withUnsafeBytes { $0.firstOffset(of: byte, from: start) }
    }

    private mutating func skipByteOrderMark() -> Int {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard isMessage, bytes.starts(with: mark) else { return 0 }
        defects.insert(.byteOrderMark)
        return mark.count
    }

    /// Where the line ends whose line feed is at `feed`, without a carriage return before it.
    private func contentEnd(_ feed: Int) -> Int {
        feed > 0 && bytes[feed - 1] == .carriageReturn ? feed - 1 : feed
    }

    private mutating func note(_ feed: Int?, contentEnd: Int) {
        guard let feed else { return }
        let found: LineEnd = contentEnd < feed ? .crlf : .lf
        if let lineEnd, lineEnd != found { defects.insert(.bareLF) }
        lineEnd = lineEnd ?? found
    }

    private func isMailboxLine(_ line: ArraySlice<UInt8>) -> Bool {
        // `From : …` is the field, in the obsolete form of RFC 5322 §4.5.
        (line.starts(with: "From ".utf8) && line.dropFirst(4).first { !$0.isBlank } != UInt8(ascii: ":"))
            || line.starts(with: ">From ".utf8)
    }

    /// Takes the line as the start of a field, if it has a name and a colon.
    private mutating func addField(_ line: ArraySlice<UInt8>, end: Int) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        var name = line[..<colon]
        while let last = name.last, last.isBlank { name.removeLast() }
        guard !name.isEmpty, name.allSatisfy({ $0 > 32 && $0 < 127 }) else { return false }
        if name.endIndex < colon { defects.insert(.blankBeforeColon) }
        extents.append(
            HeaderField.Extent(
                start: Int32(line.startIndex),
                nameEnd: Int32(name.endIndex),
                bodyStart: Int32(colon + 1),
                end: Int32(end)
            )
        )
        return true
    }
}
