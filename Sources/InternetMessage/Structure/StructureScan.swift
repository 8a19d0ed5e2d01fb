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
    /// Inside a part, a line may legitimately begin like the outer delimiter: the delimiters of nested parts may do so.
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
