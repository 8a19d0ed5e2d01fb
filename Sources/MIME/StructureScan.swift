import Streams

/// One walk through a message that finds where its parts start and end.
///
/// The entities around the present place form a stack: the message itself first, the innermost part last.
struct StructureScan {
    private let source: any ByteSource
    private let range: Range<Int>
    private var scanner: LineScanner
    private var open: [Draft] = []
    /// What to look for at each level of `open`; nil where there are no parts, or none any more.
    ///
    /// Not in the drafts, because whoever looks holds a copy: one of the drafts would have each part copy all before it.
    private var boundaries: [[UInt8]?] = []
    private var parts = 0
    private var headerBytes = 0

    init(_ source: any ByteSource, in range: Range<Int>) {
        self.source = source
        self.range = range
        scanner = LineScanner(source, end: range.upperBound)
    }

    mutating func run() throws(MIMEError) -> Entity {
        var position = try openEntity(at: range.lowerBound, isInDigest: false)
        // Where nothing has parts no line matters, and a long body need not be read for it.
        while case let boundaries = boundaries, boundaries.contains(where: { $0 != nil }),
            let line = try scanner.next(from: position, where: { Self.level(of: $0, among: boundaries) })
        {
            let (level, isClosing) = line.match
            position = line.next
            close(above: level, at: line.previousEnd)
            if isClosing {
                self.boundaries[level] = nil
                open[level].isTerminated = true
            } else {
                position = try openEntity(at: position, isInDigest: open[level].contentType.subtype == "digest")
            }
        }
        close(above: 0, at: range.upperBound)
        return open[0].entity(end: range.upperBound)
    }

    /// Reads the header at `start`, puts its entity on the stack, and returns where its body starts.
    private mutating func openEntity(at start: Int, isInDigest: Bool) throws(MIMEError) -> Int {
        parts += 1
        guard parts <= MIMELimit.parts.rawValue else { throw .limitExceeded(.parts) }
        let boundaries = boundaries
        let header = try HeaderBlock(reading: source, from: start, to: range.upperBound, isMessage: open.isEmpty) {
            line in
            line.withUnsafeBytes { Self.level(of: $0, among: boundaries) } != nil
        }
        headerBytes += header.bytes.count
        guard headerBytes <= MIMELimit.totalHeaderBytes.rawValue else { throw .limitExceeded(.totalHeaderBytes) }
        let draft = Draft(header, isInDigest: isInDigest)
        open.append(draft)
        self.boundaries.append(draft.boundary)
        guard draft.boundary == nil || open.count <= MIMELimit.depth.rawValue else { throw .limitExceeded(.depth) }
        return header.separatorRange.upperBound
    }

    /// Gives the entities above `level` their end and makes each a child of the one around it.
    private mutating func close(above level: Int, at end: Int) {
        while open.count > level + 1, let draft = open.popLast() {
            boundaries.removeLast()
            open[open.count - 1].children.append(draft.entity(end: end))
        }
    }

    /// Whose boundary `line` is; the innermost one's if there are several.
    private static func level(
        of line: UnsafeRawBufferPointer,
        among boundaries: [[UInt8]?]
    ) -> (level: Int, isClosing: Bool)? {
        for level in boundaries.indices.reversed() {
            guard let boundary = boundaries[level] else { continue }
            let length = 2 + boundary.count
            guard line.count >= length, line[2..<length].elementsEqual(boundary) else { continue }
            let rest = line[length...]
            if rest.allSatisfy(\.isBlank) { return (level, false) }
            if rest.starts(with: "--".utf8), rest.dropFirst(2).allSatisfy(\.isBlank) { return (level, true) }
        }
        return nil
    }
}

/// An entity whose end is not known yet.
private struct Draft {
    let header: HeaderBlock
    let contentType: ContentType
    let transferEncoding: TransferEncoding
    /// What separates the parts; nil if there are none.
    let boundary: [UInt8]?
    var children: [Entity] = []
    var isTerminated: Bool
    private var defects: Set<MIMEDefect>

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
            if contentType.parameters.contradictions.contains("boundary") { defects.insert(.contradictoryBoundary) }
            if !transferEncoding.isIdentity { defects.insert(.encodedMultipart) }
        }
        isTerminated = boundary == nil
    }

    func entity(end: Int) -> Entity {
        // A boundary right after the header takes the header's empty line as its own line break.
        let end = max(end, header.range.lowerBound)
        let bodyStart = min(header.separatorRange.upperBound, end)
        return Entity(
            header: header,
            range: header.range.lowerBound..<end,
            bodyRange: bodyStart..<end,
            contentType: contentType,
            transferEncoding: transferEncoding,
            children: children,
            isTerminated: isTerminated,
            defects: isTerminated ? defects : defects.union([.unterminatedMultipart])
        )
    }
}
