import COpenSSL

/// Owns one libcrypto object and frees it exactly once.
///
/// If libcrypto passes ownership of a pointer ("new", "get1", "d2i", "read"), the same expression puts the pointer into an
/// `Owned`, so that no path can leak it. A pointer that libcrypto only lends ("get0") is never put into an `Owned`.
package struct Owned<Object: LibcryptoObject>: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes ownership of `pointer`; throws libcrypto's error queue if `pointer` is null.
    package init(_ pointer: OpaquePointer?, _ operation: StaticString) throws(OpenSSLError) {
        guard let pointer else { throw OpenSSLError(operation) }
        self.pointer = pointer
    }

    /// Takes ownership of an out-parameter; nil if the C function left it null.
    package init?(adopting pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { Object.free(pointer) }

    /// Lends the pointer for the duration of `body`, which must not store it.
    package func withPointer<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(pointer)
    }

    /// Returns the pointer for a C function that takes ownership of it ("set0", "push").
    package consuming func release() -> OpaquePointer {
        let pointer = pointer
        discard self
        return pointer
    }
}

/// Lends two pointers at once, so that callers need not nest two closures.
package func withPointers<A, B, Result: ~Copyable, Failure: Error>(
    _ a: borrowing Owned<A>,
    _ b: borrowing Owned<B>,
    _ body: (OpaquePointer, OpaquePointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try a.withPointer { a throws(Failure) in try b.withPointer { b throws(Failure) in try body(a, b) } }
}
