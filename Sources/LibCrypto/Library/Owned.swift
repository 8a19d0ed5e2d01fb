import COpenSSL

/// Owns one libcrypto object and frees it exactly once.
///
/// A pointer that libcrypto gives away ("new", "get1", "d2i", "read") becomes an `Owned` in the expression that produced it,
/// so no path can leak it. A pointer that libcrypto only lends ("get0") is never wrapped.
package struct Owned<Object: LibcryptoObject>: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes ownership of `pointer`, or throws libcrypto's error queue if it is null.
    package init(_ pointer: OpaquePointer?, _ operation: StaticString) throws(OpenSSLError) {
        guard let pointer else { throw OpenSSLError(operation) }
        self.pointer = pointer
    }

    /// Takes ownership of an out-parameter that the C function may have left null.
    package init?(adopting pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { Object.free(pointer) }

    /// Lends the pointer for the duration of `body`; it must not escape.
    package func withPointer<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(pointer)
    }

    /// Passes the pointer to a C function that takes ownership ("set0", "push").
    package consuming func release() -> OpaquePointer {
        let pointer = pointer
        discard self
        return pointer
    }
}

/// Lends two pointers at once, so that call sites do not nest.
package func withPointers<A, B, Result: ~Copyable, Failure: Error>(
    _ a: borrowing Owned<A>,
    _ b: borrowing Owned<B>,
    _ body: (OpaquePointer, OpaquePointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try a.withPointer { a throws(Failure) in try b.withPointer { b throws(Failure) in try body(a, b) } }
}
