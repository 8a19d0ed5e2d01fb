import COpenSSL

/// A type of libcrypto objects and its destructor.
///
/// Swift sees a pointer to an incomplete C type as `OpaquePointer`. These types, with the names of the C types, make
/// `Owned<X509>` and `Owned<BIO>` different types and pair each with the right `free` function.
package protocol LibcryptoObject {
    static func free(_ pointer: OpaquePointer)
}

package enum BIO: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { BIO_free_all(pointer) }
}
package enum EVP_CIPHER: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_CIPHER_free(pointer) }
}
package enum EVP_CIPHER_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_CIPHER_CTX_free(pointer) }
}
package enum EVP_KDF: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_KDF_free(pointer) }
}
package enum EVP_KDF_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_KDF_CTX_free(pointer) }
}
package enum EVP_KEM: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_KEM_free(pointer) }
}
package enum EVP_MD: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_MD_free(pointer) }
}
package enum EVP_MD_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_MD_CTX_free(pointer) }
}
package enum EVP_PKEY: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_PKEY_free(pointer) }
}
package enum EVP_ENCODE_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_ENCODE_CTX_free(pointer) }
}
package enum EVP_PKEY_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_PKEY_CTX_free(pointer) }
}
package enum EVP_SIGNATURE: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { EVP_SIGNATURE_free(pointer) }
}
package enum OCSP_BASICRESP: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { OCSP_BASICRESP_free(pointer) }
}
package enum OCSP_CERTID: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { OCSP_CERTID_free(pointer) }
}
package enum OCSP_REQUEST: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { OCSP_REQUEST_free(pointer) }
}
package enum OCSP_RESPONSE: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { OCSP_RESPONSE_free(pointer) }
}
package enum X509: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { X509_free(pointer) }
}

package enum PKCS8_PRIV_KEY_INFO: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { PKCS8_PRIV_KEY_INFO_free(pointer) }
}
package enum X509_CRL: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { X509_CRL_free(pointer) }
}
package enum X509_NAME: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { X509_NAME_free(pointer) }
}
package enum X509_STORE: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { X509_STORE_free(pointer) }
}
package enum X509_STORE_CTX: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { X509_STORE_CTX_free(pointer) }
}

/// Owns one libcrypto object and frees it exactly once.
///
/// If libcrypto passes ownership of a pointer ("new", "get1", "d2i", "read"), the same expression puts the pointer into an
/// `Owned`, so that no path can leak it. A pointer that libcrypto only lends ("get0") is never put into an `Owned`. Objects of
/// other types are freed with `defer`.
package struct Owned<Object: LibcryptoObject>: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes ownership of `pointer`; throws libcrypto's error queue if `pointer` is null.
    package init(_ pointer: OpaquePointer?, _ operation: StaticString) throws(OpenSSLError) {
        guard let pointer else { throw OpenSSLError(operation) }
        self.pointer = pointer
    }

    /// Takes ownership of `pointer`, such as an out-parameter; nil if the C function left it null.
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

extension [UInt8] {
    /// Decodes these bytes with one of libcrypto's `d2i` functions.
    ///
    /// - Parameter d2i: receives a pointer to the bytes, which this function may advance, and the number of bytes.
    package func decoded(
        by d2i: (_ start: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ count: Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i(&start, bytes.count)
        }
    }
}
