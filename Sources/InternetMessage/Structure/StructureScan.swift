import ByteStreams

/// A single pass through a message that finds the start and end of each part.
///
/// The entities around the current position form a stack: the message itself first, the innermost part last.
struct StructureScan {
    private let source: any ByteSource
    private let range: Range<Int>
    private var scanner: LineScanner
    private var open: [Draft] = []
    /// The boundaries of `open`.
    ///
    /// They are separate because the scan holds a copy of them. If they were part of the drafts, each new part would copy all
    /// earlier ones.
    private var boundaries = OpenBoundaries()
    private var parts = 0
    private var headerBytes = 0

    init(_ source: any ByteSource, in range: Range<Int>) {
        self.source = source
        self.range = range
        scanner = LineScanner(source, end: range.upperBound)
    }

    mutating func run() throws(MIMEError) -> Entity {
        var place = LineScanner.Place(position: try openEntity(at: range.lowerBound, isInDigest: false))
        // Without an open multipart there is no boundary to look for, so a long body need not be read.
        while case let boundaries = boundaries, !boundaries.isEmpty,
            let line = try scanner.next(
                from: place,
                before: boundaries.watchedBytes,
                where: { boundaries.mark(of: $0, $1) }
            )
        {
            place = line.next
            switch line.match {
            case .likeness(let level, let isMere): noteLikeness(of: level, isMere)
            case .contradiction(let level): noteContradiction(of: level)
            case .delimiter(let level, let isClosing, let other):
                if let other { noteContradiction(of: other) }
                close(above: level, at: line.previousEnd)
                if isClosing {
                    self.boundaries.closeParts(of: level)
                    open[level].isTerminated = true
                } else {
                    let isInDigest = open[level].contentType.subtype == "digest"
                    place = LineScanner.Place(position: try openEntity(at: place.position, isInDigest: isInDigest))
                }
            }
        }
        close(above: 0, at: range.upperBound)
        return open[0].entity(end: range.upperBound)
    }

    /// Reads the header at `start` and pushes its entity on the stack. Returns the start of its body.
    private mutating func openEntity(at start: Int, isInDigest: Bool) throws(MIMEError) -> Int {
        parts += 1
        guard parts <= MIMELimit.parts.rawValue else { throw .limitExceeded(.parts) }
        let boundaries = boundaries
        let header = try HeaderBlock(reading: source, from: start, to: range.upperBound, isMessage: open.isEmpty) {
            line in
            let context = LineScanner.Context(isCut: false, isBehindReturn: false)
            if case .delimiter = boundaries.mark(of: line.octets, context) { return true }
            return false
        }
        headerBytes += header.bytes.count
        guard headerBytes <= MIMELimit.totalHeaderBytes.rawValue else { throw .limitExceeded(.totalHeaderBytes) }
        let draft = Draft(header, isInDigest: isInDigest)
        if let outer = open.last, outer.isSigned, !outer.children.isEmpty,
            boundaries.contradicts(header, of: open.count - 1)
        {
            noteContradiction(of: open.count - 1)
        }
        open.append(draft)
        self.boundaries.open(draft.contentType)
        guard draft.boundary == nil || open.count <= MIMELimit.depth.rawValue else { throw .limitExceeded(.depth) }
        return header.separatorRange.upperBound
    }

    /// Ends the entities above `level` and adds each to the children of its parent.
    private mutating func close(above level: Int, at end: Int) {
        while open.count > level + 1, let draft = open.popLast() {
            boundaries.closeInnermost()
            open[open.count - 1].children.append(draft.entity(end: end))
        }
    }

    /// Records a line that some programs take as a delimiter.
    ///
    /// Inside a part, a line with other text after the boundary is not recorded: the delimiter of a nested multipart may
    /// begin like the outer one.
    private mutating func noteLikeness(of level: Int, _ isMere: Bool) {
        if isMere || open.count == level + 1 { noteContradiction(of: level) }
    }

    private mutating func noteContradiction(of level: Int) {
        open[level].defects.insert(.contradictoryBoundary)
        boundaries.stopWatching(level)
    }
}

/// An entity whose end is not yet known.
private struct Draft {
    let header: HeaderBlock
    let contentType: ContentType
    let transferEncoding: TransferEncoding
    /// The boundary between the parts; nil if there are no parts.
    let boundary: [UInt8]?
    var children: [Entity] = []
    var isTerminated: Bool
    var defects: Set<MIMEDefect>

    init(_ header: HeaderBlock, isInDigest: Bool) {
        self.header = header
        defects = header.defects
        let types = header.all("Content-Type")
        let encodings = header.all("Content-Transfer-Encoding")
        if types.count > 1 { defects.insert(.duplicateContentType) }
        if encodings.count > 1 { defects.insert(.duplicateTransferEncoding) }
        let stated = types.first.flatMap { ContentType(field: $0) }
        if stated == nil, !types.isEmpty { defects.insert(.malformedContentType) }
        contentType = stated ?? (isInDigest ? .message : .plainText)
        transferEncoding = encodings.first.map { TransferEncoding(field: $0) } ?? .sevenBit
        boundary = contentType.boundary
        if contentType.isMultipart {
            if boundary == nil { defects.insert(.missingBoundary) }
            if contentType.isBoundaryAmbiguous { defects.insert(.contradictoryBoundary) }
            if !transferEncoding.isIdentity { defects.insert(.encodedMultipart) }
        }
        isTerminated = boundary == nil
    }

    /// Whether the entity is a signed multipart with a boundary.
    var isSigned: Bool { contentType.isSigned && boundary != nil }

    func entity(end: Int) -> Entity {
        Entity(
            header: header,
            end: end,
            contentType: contentType,
            transferEncoding: transferEncoding,
            children: children,
            isTerminated: isTerminated,
            defects: isTerminated ? defects : defects.union([.unterminatedMultipart])
        )
    }
}

/// The boundaries of the multiparts around the current position of a scan, and what a line means to them.
struct OpenBoundaries {
    private struct Level {
        /// Nil for an entity without parts, and after the last part.
        var boundary: [UInt8]?
        /// Whether the multipart is signed, and not yet known to be contradictory.
        var isWatched: Bool
    }

    /// The meaning of a line for the multiparts around it.
    enum Mark {
        /// The delimiter of `level`. For some programs it is also the delimiter of `other`.
        case delimiter(level: Int, isClosing: Bool, other: Int?)
        /// A line that begins like the delimiter of `level`. If `isMere` is true, only blanks, control characters and non-ASCII
        /// bytes follow.
        case likeness(level: Int, isMere: Bool)
        /// Bytes in the signed multipart at `level` that some programs take for its delimiter. Some programs compare only the
        /// beginning of a line: a part must not contain a line that begins with the delimiter (RFC 2046 §5.1.1). Others
        /// ignore text after a closing delimiter.
        case contradiction(level: Int)
    }

    private var levels: [Level] = []

    private static let hyphens = Array("--".utf8)

    /// Whether there is nothing to look for.
    var isEmpty: Bool { levels.allSatisfy { $0.boundary == nil } }

    /// The first bytes, after the hyphens, of the boundaries that are also searched for inside of lines.
    var watchedBytes: [UInt8] {
        levels.filter(\.isWatched).compactMap { level in
            level.boundary?.first { $0 != UInt8(ascii: "-") }
        }
        .flatMap { [$0.lowercased, $0.uppercased] }
    }

    /// Adds the level of an entity.
    mutating func open(_ type: ContentType) {
        levels.append(Level(boundary: type.boundary, isWatched: type.isSigned))
    }

    mutating func closeInnermost() { levels.removeLast() }

    /// Ends the parts of the multipart at `level`.
    mutating func closeParts(of level: Int) { levels[level].boundary = nil }

    mutating func stopWatching(_ level: Int) { levels[level].isWatched = false }

    /// The meaning of `line`; nil if it has none.
    ///
    /// A delimiter is that of the innermost multipart with this boundary. In a signed multipart, boundaries are also compared
    /// as other programs do: without case, and only with the beginning of the line.
    func mark(of line: Span<UInt8>, _ context: LineScanner.Context) -> Mark? {
        guard !context.isInsideLine else { return markInside(line) }
        let isWhole = !context.isCut && !context.isBehindReturn
        var found: (level: Int, isClosing: Bool)?
        var (likeness, contradiction, other) = (Mark?.none, Int?.none, Int?.none)
        for level in levels.indices.reversed() {
            let isWatched = levels[level].isWatched
            guard let boundary = levels[level].boundary, line.has(boundary, at: 2, ignoringCase: isWatched) else {
                continue
            }
            if isWhole, let isClosing = Self.closing(line, boundary) {
                if found != nil { other = other ?? level }
                found = found ?? (level, isClosing)
            } else if isWatched {
                contradiction = contradiction ?? level
            } else if likeness == nil {
                let rest = line.extracting((2 + boundary.count)...)
                let padding = rest.has(Self.hyphens) ? rest.extracting(2...) : rest
                likeness = .likeness(level: level, isMere: padding.allSatisfy { $0 <= 32 || $0 >= 127 })
            }
        }
        if let found {
            return .delimiter(level: found.level, isClosing: found.isClosing, other: other ?? contradiction)
        }
        return contradiction.map { .contradiction(level: $0) } ?? likeness
    }

    /// Whether `line` is the closing delimiter of `boundary`; nil if it is no delimiter.
    private static func closing(_ line: Span<UInt8>, _ boundary: [UInt8]) -> Bool? {
        guard line.has(boundary, at: 2) else { return nil }
        let rest = line.extracting((2 + boundary.count)...)
        let isClosing = rest.has(hyphens)
        return (isClosing ? rest.extracting(2...) : rest).allSatisfy(\.isBlank) ? isClosing : nil
    }

    /// Whether the header of a signature, which no signature covers, contains what other programs take for delimiters.
    ///
    /// Some programs end lines at a bare carriage return, and some join a line with a NUL and the next line.
    func contradicts(_ header: HeaderBlock, of level: Int) -> Bool {
        guard let boundary = levels[level].boundary,
            header.defects.isDisjoint(with: [.bareCR, .blankBeforeColon, .missingHeaderEnd, .nul])
        else {
            return true
        }
        let bytes = header.bytes.map(\.lowercased)
        return bytes.octets.firstOffset(of: Self.hyphens + boundary.map(\.lowercased)) != nil
    }

    /// The meaning of `text`, which begins with hyphens, but not at the start of a line. Some programs take it for a line:
    /// those that ignore blanks or one byte before it, and those that read long lines in pieces of 250 bytes or more.
    private func markInside(_ text: Span<UInt8>) -> Mark? {
        let run = (0..<text.count).first { text[$0] != UInt8(ascii: "-") } ?? text.count
        for level in levels.indices.reversed() where levels[level].isWatched {
            guard let boundary = levels[level].boundary else { continue }
            // The hyphens of the boundary are the last ones of the run.
            guard let hyphens = boundary.firstIndex(where: { $0 != UInt8(ascii: "-") }) else { continue }
            if run >= hyphens + 2, text.has(boundary, at: run - hyphens, ignoringCase: true) {
                return .contradiction(level: level)
            }
        }
        return nil
    }
}

extension Span<UInt8> {
    /// Whether the bytes at `index` are `word`; with `ignoringCase`, in any case of ASCII letters.
    fileprivate func has(_ word: [UInt8], at index: Int, ignoringCase: Bool) -> Bool {
        guard ignoringCase else { return has(word, at: index) }
        guard word.count <= count - index else { return false }
        return word.indices.allSatisfy { self[index + $0].lowercased == word[$0].lowercased }
    }
}
