/// A reusable buffer through which streams are moved piece by piece.
///
/// Moving a message of any size needs only one window of memory.
package final class Window {
    /// The default size in bytes: large enough to keep system calls rare, small enough for the processor's cache.
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
