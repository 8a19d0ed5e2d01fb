/// A reusable buffer for copying streams piece by piece.
///
/// A message of any size is copied with the memory of one window. A span of the window shows its current content, which
/// changes when the window is filled again.
package final class Window {
    /// The default size in bytes: large enough to make system calls rare, and small enough for the processor's cache.
    package static let size = 128 * 1024

    /// The whole buffer, for the inner loops of this module.
    @usableFromInline
    let storage: UnsafeMutableRawBufferPointer

    /// Allocates a window of `size` bytes.
    package init(size: Int = Window.size) {
        storage = .allocate(byteCount: size, alignment: 64)
    }

    deinit { storage.deallocate() }

    /// The size of the window in bytes.
    @inlinable
    package var count: Int { storage.count }

    /// The whole window as a mutable span.
    package var bytes: MutableSpan<UInt8> {
        @_lifetime(borrow self)
        get { _overrideLifetime(MutableSpan(_unsafeBytes: storage), borrowing: self) }
    }

    /// The bytes of `range`.
    package subscript(range: Range<Int>) -> Span<UInt8> {
        @_lifetime(borrow self)
        get {
            precondition(range.lowerBound >= 0 && range.upperBound <= storage.count)
            return _overrideLifetime(Span(_unsafeBytes: storage[range]), borrowing: self)
        }
    }

    /// The byte at `index`.
    @inlinable
    package subscript(index: Int) -> UInt8 {
        get {
            precondition(index >= 0 && index < storage.count)
            return storage[index]
        }
        set {
            precondition(index >= 0 && index < storage.count)
            storage[index] = newValue
        }
    }

    /// The first `count` bytes.
    @_lifetime(borrow self)
    package func prefix(_ count: Int) -> Span<UInt8> { self[0..<count] }

    /// Reads bytes from `reader` into the start of the window, or of `range`, and returns their number, which is 0 only at
    /// the end.
    package func fill(_ range: Range<Int>? = nil, from reader: any ByteReader) throws -> Int {
        var bytes = bytes
        guard let range else { return try reader.read(into: &bytes) }
        var piece = bytes.piece(range)
        return try reader.read(into: &piece)
    }

    /// Reads bytes of `source` from `offset` into the start of `range`, and returns their number, which is 0 only at the end.
    package func fill(_ range: Range<Int>, from source: any ByteSource, at offset: Int) throws(StreamError) -> Int {
        var bytes = bytes
        var piece = bytes.piece(range)
        return try source.read(into: &piece, at: offset)
    }

    /// Copies `bytes` to `index` and returns their number.
    package func copy(_ bytes: Span<UInt8>, at index: Int) -> Int {
        var room = self.bytes
        return room.copy(bytes, at: index)
    }

    /// Copies the bytes of `range` to the start of the window.
    package func moveToFront(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= storage.count)
        storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[range]))
    }
}
