import ByteStreams

/// One field of a header, in the bytes it was written in.
///
/// RFC 5322 §2.2
public struct HeaderField: Sendable {
    /// The places of a field and its parts in the bytes of its block.
    struct Extent: Sendable {
        var start: Int32
        var nameEnd: Int32
        var bodyStart: Int32
        var end: Int32
    }

    private let block: [UInt8]
    private let extent: Extent

    init(_ extent: Extent, of block: [UInt8]) {
        self.block = block
        self.extent = extent
    }

    /// The name as it was written.
    public var name: String { String(mail: nameBytes) }

    /// Whether the field is called `name`, in whatever case.
    package func isNamed(_ name: String) -> Bool {
        // Most names are of another length.
        Int(extent.nameEnd - extent.start) == name.utf8.count && nameBytes.equalsIgnoringCase(name)
    }

    /// Whether the name begins with `prefix`, in whatever case.
    package func isNamed(startingWith prefix: String) -> Bool {
        nameBytes.prefix(prefix.utf8.count).equalsIgnoringCase(prefix)
    }

    private var nameBytes: ArraySlice<UInt8> { block[Int(extent.start)..<Int(extent.nameEnd)] }

    /// Everything: name, colon, body, folding and line ends.
    public var rawBytes: ArraySlice<UInt8> { block[Int(extent.start)..<Int(extent.end)] }

    /// The bytes after the colon, with folding and line ends.
    package var bodyBytes: ArraySlice<UInt8> { block[Int(extent.bodyStart)..<Int(extent.end)] }

    /// The body unfolded and without blanks around it.
    ///
    /// RFC 5322 §2.2.3
    public var value: String { String(mail: unfoldedBody) }

    /// The value with its encoded words decoded; for display only.
    ///
    /// RFC 2047
    public var displayValue: String { EncodedWord.decode(value) }

    /// The body's bytes without line breaks and without blanks around them.
    var unfoldedBody: [UInt8] {
        var unfolded: [UInt8] = []
        let body = bodyBytes.trimmingBlanks()
        unfolded.reserveCapacity(body.count)
        for (index, byte) in zip(body.indices, body) {
            let isBreak =
                byte == .lineFeed
                || byte == .carriageReturn && index + 1 < body.endIndex && body[index + 1] == .lineFeed
            if !isBreak { unfolded.append(byte) }
        }
        return unfolded
    }

    /// Whether the field goes on behind a line of nothing but blanks, at which some readers end the header (RFC 5322 §4.2).
    package var holdsBlankLine: Bool {
        rawBytes.split(separator: .lineFeed, omittingEmptySubsequences: true).dropFirst().contains { line in
            line.allSatisfy { $0.isBlank || $0 == .carriageReturn }
        }
    }

    /// Whether the field describes the content and so belongs to the part rather than to the message (RFC 2045 §3).
    package var isContentField: Bool { isNamed(startingWith: "Content-") }

    /// Whether the field says how the body is to be read: a content field or MIME-Version.
    package var isStructural: Bool { isContentField || isNamed("MIME-Version") }

    /// The field's bytes, with a line end also where the input ended without one.
    package func closedBytes(_ lineEnd: LineEnd) -> [UInt8] {
        rawBytes.last == .lineFeed ? Array(rawBytes) : rawBytes + lineEnd.bytes
    }
}
