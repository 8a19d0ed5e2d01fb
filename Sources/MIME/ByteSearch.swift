import Foundation

extension UnsafeRawBufferPointer {
    /// Where the first `byte` is at or after `start`, found at the speed of memory.
    func firstOffset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count else { return nil }
        return memchr(base + start, CInt(byte), count - start).map { UnsafeRawPointer($0) - base }
    }

    /// Where the run of bytes ends that starts at `start` and is the same in quoted-printable: printable ASCII
    /// without =, and single blanks with such characters after them.
    func endOfPlainText(from start: Int, to end: Int) -> Int {
        Self.isPlain.withUnsafeBufferPointer { isPlain in
            var index = start
            while index < end {
                let byte = self[index]
                guard isPlain[Int(byte)] || byte.isBlank && index + 1 < count && isPlain[Int(self[index + 1])] else {
                    break
                }
                index += 1
            }
            return index
        }
    }

    private static let isPlain = (UInt8.min ... .max).map { 33...126 ~= $0 && $0 != UInt8(ascii: "=") }
}
