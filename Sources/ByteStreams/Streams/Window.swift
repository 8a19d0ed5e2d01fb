/// A reusable buffer through which streams are moved piece by piece.
///
/// One window is all the memory that moving a message of any size takes.
package final class Window {
    /// The usual size in bytes: large enough to make calls rare, small enough to stay in the cache.
    package static let size = 128 * 1024

    /// The whole buffer.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Allocates a window of `size` bytes.
    package init(size: Int = Window.size) {
        bytes = .allocate(byteCount: size, alignment: 64)
    }

    deinit { bytes.deallocate() }

    /// The first `count` bytes.
    package func prefix(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }
}
