import Foundation

extension UnsafeRawBufferPointer {
    /// Where the first `byte` is at or after `start`, found at the speed of memory.
    func firstOffset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count else { return nil }
        return memchr(base + start, CInt(byte), count - start).map { UnsafeRawPointer($0) - base }
    }
}
