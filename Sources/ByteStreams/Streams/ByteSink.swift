/// Takes bytes from front to back.
///
/// A sink belongs to one task; it is not shared.
package protocol ByteSink: AnyObject {
    /// Takes all of `bytes`, or throws an error.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension ByteSink {
    /// Takes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Takes the UTF-8 of `text`.
    package func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// Collects the bytes in memory.
package final class MemorySink: ByteSink {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
}

/// Counts the bytes and discards them.
package final class CountingSink: ByteSink {
    /// How many bytes were written so far.
    package private(set) var count = 0

    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer) { count += bytes.count }
}

/// Passes every piece to a closure.
package final class ClosureSink: ByteSink {
    private let body: (UnsafeRawBufferPointer) throws -> Void

    /// A sink that calls `body` with each piece.
    package init(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.body = body }

    package func write(_ bytes: UnsafeRawBufferPointer) throws { try body(bytes) }
}
