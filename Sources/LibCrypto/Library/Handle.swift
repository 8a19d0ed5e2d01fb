/// Shares one libcrypto object between the copies of a Swift value.
///
/// `@unchecked Sendable`: our code never mutates the object after `init`, and libcrypto takes the object's lock
/// around the caches it fills in behind a `const` pointer (openssl-threads(7)). Only X509, X509_CRL, EVP_PKEY, EVP_MD and
/// EVP_CIPHER, which promise that, go in a `Handle`.
package final class Handle<Object: LibcryptoObject>: @unchecked Sendable {
    package let owned: Owned<Object>

    package init(_ owned: consuming Owned<Object>) { self.owned = owned }
}
