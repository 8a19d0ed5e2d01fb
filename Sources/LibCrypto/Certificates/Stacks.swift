import COpenSSL

/// `STACK_OF(X509)`, which owns a reference to each certificate.
package enum CertificateStack: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { smime_sk_X509_pop_free(pointer) }
}

/// `STACK_OF(X509_CRL)`, which owns its lists.
package enum CertificateListStack: LibcryptoObject {
    package static func free(_ pointer: OpaquePointer) { smime_sk_X509_CRL_pop_free(pointer) }
}

extension Owned<CertificateStack> {
    package init(_ certificates: some Sequence<Handle<X509>>) throws(OpenSSLError) {
        let stack = try Owned(smime_sk_X509_new_null(), "sk_X509_new_null")
        for certificate in certificates {
            try withPointers(stack, certificate.owned) { stack, certificate throws(OpenSSLError) in
                try check(X509_up_ref(certificate), "X509_up_ref")
                let count = smime_sk_X509_push(stack, certificate)
                if count <= 0 { X509_free(certificate) }
                try check(count, "sk_X509_push")
            }
        }
        self = stack
    }
}

extension Owned<CertificateListStack> {
    package init(_ lists: [Handle<X509_CRL>]) throws(OpenSSLError) {
        let stack = try Owned(smime_sk_X509_CRL_new_null(), "sk_X509_CRL_new_null")
        for list in lists {
            try withPointers(stack, list.owned) { stack, list throws(OpenSSLError) in
                try check(X509_CRL_up_ref(list), "X509_CRL_up_ref")
                let count = smime_sk_X509_CRL_push(stack, list)
                if count <= 0 { X509_CRL_free(list) }
                try check(count, "sk_X509_CRL_push")
            }
        }
        self = stack
    }
}
