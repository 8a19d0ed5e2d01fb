/// A destination to which bytes are written in order.
///
/// A sink belongs to one task; it is not shared.
package protocol ByteSink: AnyObject {
    /// Writes all of `bytes`, or throws an error.
    func write(_ bytes: Span<UInt8>) throws
}

extension ByteSink {
    /// Writes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws {
        try write(bytes.octets)
    }

    /// Writes the UTF-8 of `text`.
    package func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// Collects the written bytes in memory.
package final class MemorySink: ByteSink {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func write(_ bytes: Span<UInt8>) { self.bytes.append(contentsOf: bytes) }
}

/// Counts the written bytes and discards them.
package final class CountingSink: ByteSink {
    /// The number of bytes written so far.
    package private(set) var count = 0

    package init() {}

    package func write(_ bytes: Span<UInt8>) { count += bytes.count }
}

/// Passes the written bytes to a closure.
package final class ClosureSink: ByteSink {
    private let body: (Span<UInt8>) throws -> Void

    /// A sink that calls `body` with the bytes of each write.
    package init(_ body: @escaping (Span<UInt8>) throws -> Void) { self.body = body }

    package func write(_ bytes: Span<UInt8>) throws { try body(bytes) }
}
