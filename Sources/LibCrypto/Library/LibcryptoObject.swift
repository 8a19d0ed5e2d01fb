import COpenSSL

/// A type of libcrypto objects and its destructor.
///
/// Swift sees every libcrypto pointer as `OpaquePointer`. These types, with the names of the C types, make `Owned<X509>` and
/// `Owned<BIO>` different types and pair each with the right `free` function.
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
