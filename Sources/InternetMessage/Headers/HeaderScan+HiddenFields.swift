import ByteStreams

/// The search for fields that only some programs find.
extension HeaderScan {
    /// The number of bytes that are checked in a part after the line that ends its header. In a message, the maximum size of
    /// a header is checked.
    private static let lookAhead = 65_536

    /// Whether other programs, which skip a line that is not a field, find more fields from `start` on; nil if `bytes` end
    /// too early to know.
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
            if pieces.contains(where: isDecisive) || isDecisive(unfinished.joined(with: line)[...]) { return true }
            guard let feed, feed < limit else {
                return isWhole ? false : bytes.count >= limit ? isWholeMessage : nil
            }
            start = feed + 1
        }
        return isWhole ? false : nil
    }

    /// Whether programs that end lines only at CRLF find more fields after `line`, an empty line with a bare line feed in a
    /// mail with CRLF; nil if `bytes` end too early to know.
    func hidesFields(behindEmptyLine line: Range<Int>, isWhole: Bool) -> Bool? {
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
    package static func mayStand(_ names: Set<String>, in text: ArraySlice<UInt8>) -> Bool {
        var unfinished = FoldedName()
        func isFound(_ line: ArraySlice<UInt8>) -> Bool {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
            return names.contains(HeaderScan.letters(of: line[..<colon]))
        }
        return text.contains(0)
            || LineSeparator.pieces(of: text).contains { isFound($0) || isFound(unfinished.joined(with: $0)[...]) }
    }
}

/// The beginning of a field in lines without a colon.
private struct FoldedName {
    private var bytes: [UInt8] = []
    /// Longer than every decisive name, with some blanks.
    private static let maximumCount = 100

    /// The bytes of the field so far and `line`, if `line` continues the field; otherwise `line`.
    mutating func joined(with line: ArraySlice<UInt8>) -> [UInt8] {
        let joined = line.first?.isBlank == true ? bytes + line.prefix(Self.maximumCount) : Array(line)
        let isName = joined.count <= Self.maximumCount && !joined.contains(UInt8(ascii: ":"))
        bytes = isName ? joined : []
        return joined
    }
}
