/// Shares one libcrypto object between the copies of a Swift value.
///
/// `@unchecked Sendable`: this package never changes the object after `init`, and libcrypto locks the object while it fills
/// caches behind a `const` pointer (openssl-threads(7)). Only X509, X509_CRL, EVP_PKEY, EVP_MD and EVP_CIPHER have that
/// guarantee; no other type may be put in a `Handle`.
package final class Handle<Object: LibcryptoObject>: @unchecked Sendable {
    package let owned: Owned<Object>

    package init(_ owned: consuming Owned<Object>) { self.owned = owned }
}
