import COpenSSL

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
