import ByteStreams

/// The search for fields that only some programs find.
extension HeaderScan {
    /// The number of bytes that are checked in a part after the line that ends its header. In a message, the maximum size of
    /// a header is checked.
    private static let lookAhead = 65_536

    /// Whether other programs, which skip a line that is not a field, may find decisive fields from `start` on; nil if
    /// `bytes` end too early to know.
    ///
    /// A name may be folded before its colon (RFC 5322 §4.5). A NUL joins two lines in some programs.
    func hidesFields(from start: Int, isWhole: Bool) -> Bool? {
        var start = start
        var unfinished = FoldedName()
        let limit = isWholeMessage ? MIMELimit.headerBytes.rawValue : start + Self.lookAhead
        while start < bytes.count {
            let feed = firstIndex(of: .lineFeed, from: start)
            let line = bytes[start..<(feed.map(contentEnd) ?? bytes.count)]
            if line.isEmpty { return false }
            if isWholeMessage, line.contains(0) { return true }
            let pieces = LineSeparator.pieces(of: line)
            if pieces.contains(where: isDecisive) { return true }
            if let name = unfinished.completed(by: line), Self.decisiveNames.contains(name) { return true }
            guard let feed, feed < limit else {
                return isWhole ? false : bytes.count >= limit ? isWholeMessage : nil
            }
            start = feed + 1
        }
        return isWhole ? false : nil
    }

    /// Whether other programs may find decisive fields after the empty line `line`; nil if `bytes` end too early to know.
    ///
    /// Some programs end lines only at CRLF in a mail with CRLF. Others end the header only at two consecutive LFs or two
    /// consecutive CRLFs: for them, an empty line in CRLF after a line in LF does not end the header.
    func hidesFields(behindEmptyLine line: Range<Int>, isWhole: Bool) -> Bool? {
        let isCRLF = line.count == 2
        let isDivided = isCRLF && line.lowerBound > 1 && bytes[line.lowerBound - 2] != .carriageReturn
        guard isWholeMessage, isDivided || lineEnd == .crlf && !isCRLF else { return false }
        var (start, wasCRLF) = (line.upperBound, isCRLF)
        if isDivided, opensDecisively(start) { return true }
        while let feed = firstIndex(of: .lineFeed, from: start) {
            let isCRLF = feed > 0 && bytes[feed - 1] == .carriageReturn
            if isDivided || isCRLF {
                let isEnd = !isDivided || !isCRLF || wasCRLF
                if isEnd, start == (isCRLF ? feed - 1 : feed) { return false }
                if opensDecisively(feed + 1) { return true }
            }
            guard feed < MIMELimit.headerBytes.rawValue else { return true }
            (start, wasCRLF) = (feed + 1, isCRLF)
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
    func isDecisive(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = line[..<colon]
        return Self.decisiveNames.contains(
            isWholeMessage
                ? Self.letters(of: name) : String(decoding: name.trimmingBlanks(), as: UTF8.self).lowercased()
        )
    }

    /// The letters and hyphens of a name, in lower case; empty if the name is longer than every decisive name.
    static func letters(of name: ArraySlice<UInt8>) -> String {
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
}

extension HeaderBlock {
    /// Whether some program may find a field with one of `names`, which must be in lower case, anywhere in `text`.
    package static func mayContainField(named names: Set<String>, in text: ArraySlice<UInt8>) -> Bool {
        var unfinished = FoldedName()
        return text.contains(0)
            || LineSeparator.pieces(of: text).contains { line in
                let name = line.firstIndex(of: UInt8(ascii: ":")).map { HeaderScan.letters(of: line[..<$0]) }
                return [name, unfinished.completed(by: line)].contains { $0.map(names.contains) == true }
            }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= lowercased }
}

/// The name of a field that is folded before its colon.
private struct FoldedName {
    /// The letters of a name whose colon is still missing; nil if there is none, or if no decisive name is that long.
    private var letters: String?

    /// Reads the next line. Returns the letters of the name that ends in it, if the name began in an earlier line.
    mutating func completed(by line: ArraySlice<UInt8>) -> String? {
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        let known = line.first?.isBlank == true ? letters : nil
        let own = HeaderScan.letters(of: name)
        let joined = (known ?? "") + own
        // No decisive name has more letters. For a longer name, `letters(of:)` returns an empty text.
        let isShort = joined.utf8.count <= 25 && (!own.isEmpty || name.allSatisfy { !$0.isLetter })
        letters = name.count == line.count && isShort ? joined : nil
        return name.count == line.count ? nil : known.map { _ in joined }
    }
}
