/// A reusable buffer through which streams are moved piece by piece.
///
/// One window is all the memory that moving a message of any size takes. A piece of it shows what the window holds until it is
/// filled again.
package final class Window {
    /// The default size in bytes: large enough to keep system calls rare, small enough for the processor's cache.
    package static let size = 128 * 1024

    /// The whole buffer, for the inner loops of this module.
    @usableFromInline
    let storage: UnsafeMutableRawBufferPointer

    /// Allocates a window of `size` bytes.
    package init(size: Int = Window.size) {
        storage = .allocate(byteCount: size, alignment: 64)
    }

    deinit { storage.deallocate() }

    /// How many bytes fit.
    @inlinable
    package var count: Int { storage.count }

    /// All of it, to be written.
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

    /// Fills the front of the window, or of `range`, with what `reader` gives, and returns how many bytes that were; 0 only
    /// at the end.
    package func fill(_ range: Range<Int>? = nil, from reader: any ByteReader) throws -> Int {
        var bytes = bytes
        guard let range else { return try reader.read(into: &bytes) }
        var piece = bytes.piece(range)
        return try reader.read(into: &piece)
    }

    /// Fills the front of `range` with what `source` has from `offset` on, and returns how many bytes that were; 0 only at
    /// the end.
    package func fill(_ range: Range<Int>, from source: any ByteSource, at offset: Int) throws(StreamError) -> Int {
        var bytes = bytes
        var piece = bytes.piece(range)
        return try source.read(into: &piece, at: offset)
    }

    /// Copies `bytes` to `index`, and returns how many they are.
    package func copy(_ bytes: Span<UInt8>, at index: Int) -> Int {
        var room = self.bytes
        return room.copy(bytes, at: index)
    }

    /// Copies the bytes of `range` to the front.
    package func moveToFront(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= storage.count)
        storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[range]))
    }
}
