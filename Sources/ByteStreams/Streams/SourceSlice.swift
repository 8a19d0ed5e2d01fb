/// A part of another source.
package struct SourceSlice: ByteSource {
    private let base: any ByteSource
    private let range: Range<Int>

    /// The bytes of `base` in `range`; the part of `range` beyond the end of `base` is ignored.
    package init(_ base: any ByteSource, _ range: Range<Int>) {
        self.base = base
        self.range = range.clamped(to: 0..<base.count)
    }

    /// The number of bytes in the part.
    package var count: Int { range.count }

    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let length = min(buffer.count, range.count - offset)
        guard length > 0 else { return 0 }
        var piece = buffer.piece(0..<length)
        return try base.read(into: &piece, at: range.lowerBound + offset)
    }

    package func checkUnchanged() throws(StreamError) { try base.checkUnchanged() }
}
