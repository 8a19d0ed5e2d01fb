package import ByteStreams

/// Finds defects of received lines that are no longer visible in canonical form.
///
/// The caller passes all bytes in order, in windows of any size.
package final class LineEndDefects {
    private var bareLF = false
    private var bareCR = false
    private var hasNUL = false
    private var hasCRLF = false
    private var endsInReturn = false

    package init() {}

    /// The defects found so far. A bare LF is a defect only if other lines end in CRLF, because files normally have LF
    /// everywhere.
    package var defects: Set<MIMEDefect> {
        var defects: Set<MIMEDefect> = []
        if bareLF, hasCRLF { defects.insert(.bareLF) }
        if bareCR || endsInReturn { defects.insert(.bareCR) }
        if hasNUL { defects.insert(.nul) }
        return defects
    }

    /// Checks the next bytes.
    package func scan(_ bytes: Span<UInt8>) {
        guard let first = bytes.first else { return }
        if !hasNUL { hasNUL = bytes.firstOffset(of: 0) != nil }
        if endsInReturn, first != .lineFeed { bareCR = true }
        var position = 0
        while !(bareLF && hasCRLF), let feed = bytes.firstOffset(of: .lineFeed, from: position) {
            let followsReturn = feed > 0 ? bytes[feed - 1] == .carriageReturn : endsInReturn
            if followsReturn { hasCRLF = true } else { bareLF = true }
            position = feed + 1
        }
        position = 0
        while !bareCR, let found = bytes.firstOffset(of: .carriageReturn, from: position), found + 1 < bytes.count {
            if bytes[found + 1] != .lineFeed { bareCR = true }
            position = found + 1
        }
        endsInReturn = bytes.last == .carriageReturn
    }

    /// A reader that returns the bytes of `reader` and checks them.
    package func watching(_ reader: any ByteReader) -> any ByteReader { WatchedReader(reader, self) }
}

private final class WatchedReader: ByteReader {
    private let upstream: any ByteReader
    private let defects: LineEndDefects

    init(_ upstream: any ByteReader, _ defects: LineEndDefects) {
        self.upstream = upstream
        self.defects = defects
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        let count = try upstream.read(into: &buffer)
        defects.scan(buffer.octets.extracting(first: count))
        return count
    }
}
