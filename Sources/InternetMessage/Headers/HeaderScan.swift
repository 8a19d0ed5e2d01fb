import ByteStreams

/// Finds the fields of a header in one pass over its lines.
struct HeaderScan {
    let bytes: [UInt8]
    private(set) var extents: [HeaderField.Extent] = []
    private(set) var defects: Set<MIMEDefect> = []
    private(set) var lineEnd: LineEnd?
    /// The end of the fields. The empty line after them ends at `end`.
    private(set) var fieldsEnd = 0
    private(set) var end = 0

    private let isMessage: Bool
    /// Whether the header belongs to a whole message. The checks are then stricter, because its author must be unambiguous.
    private let isWholeMessage: Bool

    /// - Parameters:
    ///   - isMessage: whether a byte order mark and the From line of a mailbox are allowed at the start.
    ///   - start: the position of `bytes` in their source.
    init(_ bytes: [UInt8], isMessage: Bool, at start: Int = 0) {
        self.bytes = bytes
        self.isMessage = isMessage
        isWholeMessage = isMessage && start == 0
    }

    /// Reads to the header's end; returns false if more bytes are needed.
    ///
    /// - Parameter isWhole: whether `bytes` extend to the end of the source.
    mutating func run(isWhole: Bool, isDelimiter: (ArraySlice<UInt8>) -> Bool) -> Bool {
        var start = skipByteOrderMark()
        let top = start
        while start < bytes.count {
            let feed = firstIndex(of: .lineFeed, from: start)
            guard feed != nil || isWhole else { return false }
            let next = feed.map { $0 + 1 } ?? bytes.count
            let content = bytes[start..<(feed.map(contentEnd) ?? bytes.count)]
            if content.isEmpty {
                guard let hides = hidesFields(behindEmptyLine: start..<next, isWhole: isWhole) else { return false }
                if hides { defects.insert(.hiddenFields) }
                note(feed, contentEnd: content.endIndex)
                return finish(fieldsEnd: start, end: next)
            }
            if content.starts(with: "--".utf8), isDelimiter(content) { return finish(fieldsEnd: start, end: start) }
            if isMessage, start == top, isMailboxLine(content) {
                defects.insert(.mboxLine)
                // `>From ` does not begin a line of a mailbox. It is text, at which some programs end the header.
                if isWholeMessage, content.first == UInt8(ascii: ">") { defects.insert(.hiddenFields) }
            } else if content.first?.isBlank == true, !extents.isEmpty {
                extents[extents.count - 1].end = Int32(next)
            } else if !addField(content, end: next) {
                guard let hides = hidesFields(from: start, isWhole: isWhole) else { return false }
                defects.formUnion(hides ? [.missingHeaderEnd, .hiddenFields] : [.missingHeaderEnd])
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
        noteBareReturns(before: fieldsEnd)
        noteOtherSeparators(before: fieldsEnd)
        return true
    }

    /// Records carriage returns without a line feed, and whether the header has other fields for programs that end a line
    /// there.
    private mutating func noteBareReturns(before end: Int) {
        // A carriage return after the last field hides no field.
        let last = bytes[..<end].lastIndex { $0 != .carriageReturn && $0 != .lineFeed } ?? 0
        var position = 0
        while let found = firstIndex(of: .carriageReturn, from: position), found < end {
            // A run of carriage returns is checked only once.
            position = bytes[found..<end].firstIndex { $0 != .carriageReturn } ?? end
            let isRun = position - found > 1
            let endsLine = position < end && bytes[position] == .lineFeed
            if isRun || !endsLine {
                defects.insert(.bareCR)
                // The text after it is empty or not a field. Some programs end the header in either case.
                if isWholeMessage, found < last { defects.insert(.hiddenFields) }
            }
            guard !endsLine, position < end else { continue }
            let line = bytes[position..<end].prefix { $0 != .carriageReturn && $0 != .lineFeed }
            if isRun || isDecisive(line) { defects.insert(.hiddenFields) }
        }
    }

    /// Records whether the header has other fields for programs that also end lines at other control characters, as some text
    /// libraries do.
    private mutating func noteOtherSeparators(before end: Int) {
        let mayStand = isWholeMessage && LineSeparator.mayStand(in: bytes[..<end])
        guard mayStand, !defects.contains(.hiddenFields) else { return }
        let pieces = LineSeparator.pieces(of: bytes[..<end])
        if pieces.contains(where: { $0.startIndex > 0 && bytes[$0.startIndex - 1] != .lineFeed && isDecisive($0) }) {
            defects.insert(.hiddenFields)
        }
    }

    /// The number of bytes that are checked in a part after the line that ends its header. In a message, the maximum size of
    /// a header is checked.
    private static let lookAhead = 65_536

    /// Whether other programs, which skip a line that is not a field, find more fields from `start` on; nil if `bytes` end
    /// too early to know.
    private func hidesFields(from start: Int, isWhole: Bool) -> Bool? {
        var start = start
        let limit = isWholeMessage ? MIMELimit.headerBytes.rawValue : start + Self.lookAhead
        while start < bytes.count {
            let feed = firstIndex(of: .lineFeed, from: start)
            let line = bytes[start..<(feed.map(contentEnd) ?? bytes.count)]
            if line.isEmpty { return false }
            if LineSeparator.pieces(of: line).contains(where: isDecisive) { return true }
            guard let feed, feed < limit else {
                return isWhole ? false : bytes.count >= limit ? isWholeMessage : nil
            }
            start = feed + 1
        }
        return isWhole ? false : nil
    }

    /// Whether programs that end lines only at CRLF find more fields after `line`, an empty line with a bare line feed in a
    /// mail with CRLF; nil if `bytes` end too early to know.
    private func hidesFields(behindEmptyLine line: Range<Int>, isWhole: Bool) -> Bool? {
        guard isWholeMessage, lineEnd == .crlf, line.count == 1 else { return false }
        var start = line.upperBound
        while let feed = firstIndex(of: .lineFeed, from: start) {
            let isEnd = feed > 0 && bytes[feed - 1] == .carriageReturn
            if isEnd, feed - 1 == start { return false }
            if isEnd, opensDecisively(feed + 1) { return true }
            guard feed < MIMELimit.headerBytes.rawValue else { return true }
            start = feed + 1
        }
        return isWhole ? false : bytes.count >= MIMELimit.headerBytes.rawValue ? true : nil
    }

    /// Whether some program may interpret the line at `start` as a decisive field.
    private func opensDecisively(_ start: Int) -> Bool {
        let line = bytes[start...].prefix { $0 != .lineFeed && $0 != .carriageReturn }
        guard let piece = LineSeparator.pieces(of: line).first, piece.startIndex == start else { return false }
        return isDecisive(piece)
    }

    /// The decisive fields, which determine the author of a message and what is displayed.
    private static let decisiveNames: Set<String> = [
        "cc", "content-transfer-encoding", "content-type", "date", "from", "reply-to", "sender", "subject", "to",
    ]

    /// Whether some program may interpret `line` as a decisive field. In a whole message, characters other than letters and
    /// hyphens in the name are ignored.
    private func isDecisive(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = line[..<colon]
        return Self.decisiveNames.contains(
            isWholeMessage
                ? Self.letters(of: name) : String(decoding: name.trimmingBlanks(), as: UTF8.self).lowercased()
        )
    }

    /// The letters and hyphens of a name, in lower case; empty if the name is longer than every decisive name.
    private static func letters(of name: ArraySlice<UInt8>) -> String {
        var letters = ""
        for byte in name {
            let letter = byte.lowercased
            guard UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter || letter == UInt8(ascii: "-") else { continue }
            // The longest decisive name has 25 characters.
            guard letters.utf8.count < 25 else { return "" }
            letters.unicodeScalars.append(Unicode.Scalar(letter))
        }
        return letters
    }

    private func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        bytes.octets.firstOffset(of: byte, from: start)
    }

    private mutating func skipByteOrderMark() -> Int {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard isMessage, bytes.starts(with: mark) else { return 0 }
        defects.insert(.byteOrderMark)
        return mark.count
    }

    /// The end of the content of the line with the line feed at `feed`, without a carriage return.
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
        // `From : …` is a header field in the obsolete form of RFC 5322 §4.5.
        (line.starts(with: "From ".utf8) && line.dropFirst(4).first { !$0.isBlank } != UInt8(ascii: ":"))
            || line.starts(with: ">From ".utf8)
    }

    /// Adds the field that begins with the line; returns false if the line has no name and colon.
    private mutating func addField(_ line: ArraySlice<UInt8>, end: Int) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        var name = line[..<colon]
        while let last = name.last, last.isBlank { name.removeLast() }
        guard !name.isEmpty, name.allSatisfy({ $0 > 32 && $0 < 127 }) else { return false }
        if name.endIndex < colon { defects.insert(.blankBeforeColon) }
        if isWholeMessage, name.count <= 64, Self.letters(of: name) == "from",
            !name.equalsIgnoringCase("From")
        {
            defects.insert(.hiddenFields)
        }
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
