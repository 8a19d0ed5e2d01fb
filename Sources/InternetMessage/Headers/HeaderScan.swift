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
    let isWholeMessage: Bool

    /// - Parameters:
    ///   - isMessage: whether a byte order mark and the From line of an mbox file are allowed at the start.
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
            if isMessage, start == top, isMboxLine(content) {
                defects.insert(.mboxLine)
                // `>From ` does not begin a message in an mbox file. It is text, at which some programs end the header.
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
        noteNULs(before: fieldsEnd)
        noteHiddenFields()
        noteBareReturns(before: fieldsEnd)
        noteOtherSeparators(before: fieldsEnd)
        return true
    }

    /// Records whether a byte order mark or a blank before a colon hides one of these fields from some programs:
    /// - A field that determines how the body is read. Without it, they show other text.
    /// - From. Without it, they may take the author from another field, or from the From line of an mbox file, which mail
    ///   servers may also add later.
    private mutating func noteHiddenFields() {
        guard isWholeMessage, !defects.isDisjoint(with: [.byteOrderMark, .blankBeforeColon]) else { return }
        func name(_ extent: HeaderField.Extent) -> ArraySlice<UInt8> { bytes[Int(extent.start)..<Int(extent.nameEnd)] }
        func isAuthor(_ extent: HeaderField.Extent) -> Bool { name(extent).equalsIgnoringCase("From") }
        let last = extents.lastIndex { isAuthor($0) || Self.isStructural(Array(name($0))) } ?? -1
        // Some programs end the header at a field with a blank before its colon.
        if extents[...last].contains(where: { $0.nameEnd + 1 < $0.bodyStart }) {
            defects.insert(.hiddenFields)
        }
        // Some programs read the byte order mark as a part of the first field.
        if defects.contains(.byteOrderMark), extents.first.map({ Self.isStructural(Array(name($0))) }) == true {
            defects.insert(.hiddenFields)
        }
        guard let author = extents.firstIndex(where: isAuthor) else { return }
        let others = ["from", "sender", "return-path", "reply-to"]
        let hasOther = extents.enumerated().contains { index, extent in
            index != author && others.contains { Self.letters(of: name(extent)).hasSuffix($0) }
        }
        if defects.contains(.byteOrderMark), author == 0, hasOther || defects.contains(.mboxLine) {
            defects.insert(.hiddenFields)
        }
    }

    /// Records NUL bytes. Programs in C end a line there, and some of them join it with the next line.
    private mutating func noteNULs(before end: Int) {
        guard let nul = firstIndex(of: 0, from: 0), nul < end else { return }
        defects.insert(.nul)
        guard isWholeMessage else { return }
        // If the last field contains a NUL, the empty line after it may be joined, so that the header does not end there.
        var next = [UInt8]("From".utf8)
        for extent in extents.reversed() {
            let name = Array(bytes[Int(extent.start)..<Int(extent.nameEnd)])
            let hasNUL = bytes[Int(extent.start)..<Int(extent.end)].contains(0)
            if hasNUL, Self.isStructural(name) || Self.isStructural(next) || Self.isAuthor(next) {
                defects.insert(.hiddenFields)
            }
            next = name
        }
        let top = extents.first.map { Int($0.start) } ?? 0
        if bytes[..<top].contains(0) { defects.insert(.hiddenFields) }
    }

    /// Whether the field with this name determines how the body is read.
    private static func isStructural(_ name: [UInt8]) -> Bool {
        ["content-transfer-encoding", "content-type", "mime-version"].contains { name.equalsIgnoringCase($0) }
    }

    /// Whether the field with this name says who wrote the message. A NUL in such a field is found when the field is parsed.
    private static func isAuthor(_ name: [UInt8]) -> Bool {
        ["from", "reply-to", "sender"].contains { name.equalsIgnoringCase($0) }
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
                // Programs that end the line here find another field, or an empty line or text, at which some of them end the
                // header.
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
        let mayOccur = isWholeMessage && LineSeparator.mayOccur(in: bytes[..<end])
        guard mayOccur, !defects.contains(.hiddenFields) else { return }
        let pieces = LineSeparator.pieces(of: bytes[..<end])
        if pieces.contains(where: { $0.startIndex > 0 && bytes[$0.startIndex - 1] != .lineFeed && isDecisive($0) }) {
            defects.insert(.hiddenFields)
        }
    }

    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        bytes.octets.firstOffset(of: byte, from: start)
    }

    private mutating func skipByteOrderMark() -> Int {
        guard isMessage, bytes.starts(with: HeaderBlock.byteOrderMark) else { return 0 }
        defects.insert(.byteOrderMark)
        return HeaderBlock.byteOrderMark.count
    }

    /// The end of the content of the line with the line feed at `feed`, without a carriage return.
    func contentEnd(_ feed: Int) -> Int {
        feed > 0 && bytes[feed - 1] == .carriageReturn ? feed - 1 : feed
    }

    private mutating func note(_ feed: Int?, contentEnd: Int) {
        guard let feed else { return }
        let found: LineEnd = contentEnd < feed ? .crlf : .lf
        if let lineEnd, lineEnd != found { defects.insert(.bareLF) }
        lineEnd = lineEnd ?? found
    }

    private func isMboxLine(_ line: ArraySlice<UInt8>) -> Bool {
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
