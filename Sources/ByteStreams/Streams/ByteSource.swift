/// Bytes that can be read at any position: memory, a regular file, or a spool.
package protocol ByteSource: Sendable {
    /// The number of bytes.
    var count: Int { get }

    /// Reads bytes from `offset` into the start of `buffer` and returns their number, which is 0 only at the end.
    func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int

    /// Throws `StreamError.changedWhileReading` if the bytes may have changed since the source was created.
    func checkUnchanged() throws(StreamError)
}

extension ByteSource {
    package func checkUnchanged() throws(StreamError) {}

    /// The bytes of `range`, which must be inside the source.
    package func bytes(in range: Range<Int>) throws(StreamError) -> [UInt8] {
        var failure: StreamError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < range.count {
                do throws(StreamError) {
                    var rest = MutableSpan(_unsafeElements: buffer[count..<range.count])
                    let read = try self.read(into: &rest, at: range.lowerBound + count)
                    guard read > 0 else { throw StreamError.changedWhileReading }
                    count += read
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// A reader of `range`, or of all bytes.
    package func reader(in range: Range<Int>? = nil) -> SourceReader {
        SourceReader(self, range ?? 0..<count)
    }

    /// A stream of `range`, or of all bytes.
    package func stream(in range: Range<Int>? = nil) -> ByteStream {
        ByteStream { reader(in: range) }
    }
}

/// Reads a range of a source in order. If the task is cancelled, the next read throws `StreamError.cancelled`.
package final class SourceReader: ByteReader {
    private let source: any ByteSource
    private var position: Int
    private let end: Int

    /// A reader of `range` of `source`.
    package init(_ source: any ByteSource, _ range: Range<Int>) {
        self.source = source
        position = range.lowerBound
        end = range.upperBound
    }

    package func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        let wanted = min(buffer.count, end - position)
        guard wanted > 0 else { return 0 }
        guard !Task.isCancelled else { throw StreamError.cancelled }
        var piece = buffer.piece(0..<wanted)
        let count = try source.read(into: &piece, at: position)
        guard count > 0 else { throw StreamError.changedWhileReading }
        position += count
        return count
    }
}

/// Bytes in memory.
package struct MemorySource: ByteSource {
    /// The bytes.
    package let bytes: [UInt8]

    /// A source with `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes.
    package var count: Int { bytes.count }

    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let length = min(buffer.count, bytes.count - offset)
        guard length > 0 else { return 0 }
        return buffer.copy(bytes.octets.extracting(offset..<offset + length))
    }
}

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
