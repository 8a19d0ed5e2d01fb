/// Takes bytes from front to back.
///
/// A sink belongs to one task; it is not shared.
package protocol ByteSink: AnyObject {
    /// Takes all of `bytes`, or throws.
    func write(_ bytes: Span<UInt8>) throws
}

extension ByteSink {
    /// Takes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws {
        try write(bytes.octets)
    }

    /// Takes the UTF-8 of `text`.
    package func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// Collects the bytes in memory.
package final class MemorySink: ByteSink {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func write(_ bytes: Span<UInt8>) { self.bytes.append(contentsOf: bytes) }
}

/// Counts the bytes and discards them.
package final class CountingSink: ByteSink {
    /// How many bytes were written so far.
    package private(set) var count = 0

    package init() {}

    package func write(_ bytes: Span<UInt8>) { count += bytes.count }
}

/// Passes every piece to a closure.
package final class ClosureSink: ByteSink {
    private let body: (Span<UInt8>) throws -> Void

    /// A sink that calls `body` with each piece.
    package init(_ body: @escaping (Span<UInt8>) throws -> Void) { self.body = body }

    package func write(_ bytes: Span<UInt8>) throws { try body(bytes) }
}
