import ByteStreams

/// A single pass through a message that finds the start and end of each part.
///
/// The entities around the current position form a stack: the message itself first, the innermost part last.
struct StructureScan {
    private let source: any ByteSource
    private let range: Range<Int>
    private var scanner: LineScanner
    private var open: [Draft] = []
    /// The boundary for each level of `open`; nil for entities without parts, and after the last part.
    ///
    /// This is a separate array because the scan holds a copy of it. If it were part of the drafts, each new part would copy
    /// all earlier ones.
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
        // Without an open multipart there is no boundary to look for, so a long body need not be read.
        while case let boundaries = boundaries, boundaries.contains(where: { $0 != nil }),
            let line = try scanner.next(from: position, where: { Self.mark(of: $0, $1, among: boundaries) })
        {
            position = line.next
            guard case .delimiter(let level, let isClosing) = line.match else {
                if case .likeness(let level, let isMere) = line.match { noteLikeness(of: level, isMere) }
                continue
            }
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

    /// Reads the header at `start` and pushes its entity on the stack. Returns the start of its body.
    private mutating func openEntity(at start: Int, isInDigest: Bool) throws(MIMEError) -> Int {
        parts += 1
        guard parts <= MIMELimit.parts.rawValue else { throw .limitExceeded(.parts) }
        let boundaries = boundaries
        let header = try HeaderBlock(reading: source, from: start, to: range.upperBound, isMessage: open.isEmpty) {
            line in
            let context = LineScanner.Context(isCut: false, isBehindReturn: false)
            if case .delimiter = Self.mark(of: line.octets, context, among: boundaries) { return true }
            return false
        }
        headerBytes += header.bytes.count
        guard headerBytes <= MIMELimit.totalHeaderBytes.rawValue else { throw .limitExceeded(.totalHeaderBytes) }
        let draft = Draft(header, isInDigest: isInDigest)
        open.append(draft)
        self.boundaries.append(draft.boundary)
        guard draft.boundary == nil || open.count <= MIMELimit.depth.rawValue else { throw .limitExceeded(.depth) }
        return header.separatorRange.upperBound
    }

    /// Ends the entities above `level` and adds each to the children of its parent.
    private mutating func close(above level: Int, at end: Int) {
        while open.count > level + 1, let draft = open.popLast() {
            boundaries.removeLast()
            open[open.count - 1].children.append(draft.entity(end: end))
        }
    }

    /// The meaning of a line for the multiparts around it.
    private enum Mark {
        case delimiter(level: Int, isClosing: Bool)
        /// A line that begins like the delimiter of `level`. If `isMere` is true, only blanks and control characters follow.
        case likeness(level: Int, isMere: Bool)
    }

    private static let hyphens = Array("--".utf8)

    /// The meaning of `line`: the delimiter of the innermost multipart with this boundary, or a line that begins like a
    /// delimiter. Nil if it is neither.
    private static func mark(
        of line: Span<UInt8>,
        _ context: LineScanner.Context,
        among boundaries: [[UInt8]?]
    ) -> Mark? {
        var likeness: Mark?
        for level in boundaries.indices.reversed() {
            guard let boundary = boundaries[level] else { continue }
            guard line.has(boundary, at: 2) else { continue }
            let rest = line.extracting((2 + boundary.count)...)
            let isClosing = rest.has(hyphens)
            let padding = isClosing ? rest.extracting(2...) : rest
            if !context.isCut, !context.isBehindReturn, padding.allSatisfy(\.isBlank) {
                return .delimiter(level: level, isClosing: isClosing)
            }
            likeness = likeness ?? .likeness(level: level, isMere: padding.allSatisfy { $0 <= 32 || $0 >= 127 })
        }
        return likeness
    }

    /// Records a line that some programs take as a delimiter.
    ///
    /// Inside a part, a line may legitimately begin like the outer delimiter: the delimiters of nested parts may do so.
    private mutating func noteLikeness(of level: Int, _ isMere: Bool) {
        if isMere || open.count == level + 1 { open[level].defects.insert(.contradictoryBoundary) }
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
