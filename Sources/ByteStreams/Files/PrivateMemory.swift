/// Bytes in memory that may be secret. They are overwritten after their last use.
final class PrivateMemory: ByteSource {
    /// Written only by `filled(by:limit:)`, before the value is shared.
    private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer
    let count: Int

    private init(_ buffer: UnsafeMutableRawBufferPointer, count: Int) {
        self.buffer = buffer
        self.count = count
    }

    deinit { Self.discard(buffer) }

    func read(into target: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let length = min(target.count, count - offset)
        guard length > 0 else { return 0 }
        return target.copy(Span(_unsafeBytes: buffer[offset..<offset + length]))
    }

    /// Reads up to `limit` bytes of `reader`.
    ///
    /// - Returns: the bytes, and whether `limit` was reached, so that the reader may have more.
    static func filled(by reader: any ByteReader, limit: Int) throws -> (memory: PrivateMemory, isFull: Bool) {
        var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(limit, 1 << 16), alignment: 16)
        var count = 0
        do {
            while true {
                if count == buffer.count {
                    guard count < limit else { return (PrivateMemory(buffer, count: count), true) }
                    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: min(limit, 2 * count), alignment: 16)
                    larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
                    discard(buffer)
                    buffer = larger
                }
                var rest = MutableSpan<UInt8>(_unsafeBytes: buffer[count...])
                let read = try reader.read(into: &rest)
                if read == 0 { return (PrivateMemory(buffer, count: count), false) }
                count += read
            }
        } catch {
            discard(buffer)
            throw error
        }
    }

    private static func discard(_ buffer: UnsafeMutableRawBufferPointer) {
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.deallocate()
    }
}
