import COpenSSL

/// Certificates as objects of libcrypto.
extension Handle<X509> {
    /// Reads the DER of a certificate.
    ///
    /// libcrypto: `d2i_X509`
    package convenience init(certificate der: [UInt8]) throws(OpenSSLError) {
        Libcrypto.start()
        let pointer = der.decoded { d2i_X509(nil, $0, $1) }
        self.init(try Owned<X509>(pointer, "d2i_X509"))
    }

    /// Whether the certificate has an extension that libcrypto evaluates but cannot parse.
    ///
    /// libcrypto: `X509_get_extension_flags`
    package var hasMalformedExtension: Bool {
        defer { ERR_clear_error() }
        return owned.withPointer { X509_get_extension_flags($0) } & UInt32(EXFLAG_INVALID) != 0
    }

    /// Whether names and key identifiers allow this certificate to be the issuer of `certificate`.
    ///
    /// A key usage without keyCertSign does not matter here, nor does an unspecified error of libcrypto: the path builder
    /// follows such a path so that the report can name its defects.
    ///
    /// libcrypto: `X509_check_issued`
    package func mayHaveIssued(_ certificate: Handle<X509>) -> Bool {
        defer { ERR_clear_error() }
        let match = withPointers(owned, certificate.owned) { X509_check_issued($0, $1) }
        return [X509_V_OK, X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_UNSPECIFIED].contains(match)
    }

    /// Whether this certificate was signed with the key of `issuer`; nil if libcrypto cannot check this, for example for lack of memory.
    ///
    /// libcrypto: `X509_verify`
    package func isSigned(by issuer: Handle<X509>) -> Bool? {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        let result = withPointers(owned, issuer.owned) { X509_verify($0, X509_get0_pubkey($1)) }
        return result != 1 && OpenSSLError.takeFatal() ? nil : result == 1
    }
}

extension Libcrypto {
    /// The hash in the names of files that contain certificates with this subject, in a folder of trust anchors that `openssl
    /// rehash` created.
    ///
    /// - Parameter der: the distinguished name.
    /// - Returns: nil if libcrypto cannot read the name.
    ///
    /// libcrypto: `X509_NAME_hash_ex`
    package static func nameHash(_ der: [UInt8]) -> UInt32? {
        start()
        defer { ERR_clear_error() }
        let pointer = der.decoded { d2i_X509_NAME(nil, $0, $1) }
        guard let object = Owned<X509_NAME>(adopting: pointer) else { return nil }
        var isValid: CInt = 0
        let hash = object.withPointer { X509_NAME_hash_ex($0, nil, nil, &isValid) }
        return isValid == 1 ? UInt32(truncatingIfNeeded: hash) : nil
    }
}

/// The DER of `certificate`.
///
/// libcrypto: `i2d_X509`
func encodedCertificate(_ certificate: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
    var encoding: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(certificate, &encoding)
    defer { smime_OPENSSL_free(encoding) }
    try check(count, "i2d_X509")
    return Array(UnsafeBufferPointer(start: encoding, count: Int(count)))
}

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

/// A certificate for a newly generated key, valid for one hour: half an hour before and after the present time.
package struct FreshCertificate {
    /// An extension of a certificate: its dotted OID and the DER of its value.
    package struct Extension {
        package let identifier: String
        package let value: [UInt8]
        package let isCritical: Bool

        package init(_ identifier: String, _ value: [UInt8], isCritical: Bool = false) {
            (self.identifier, self.value, self.isCritical) = (identifier, value, isCritical)
        }
    }

    /// The common names of subject and issuer.
    package let subject, issuer: String
    package let serialNumber: Int
    package let extensions: [Extension]

    package init(subject: String, issuer: String, serialNumber: Int, extensions: [Extension]) {
        (self.subject, self.issuer) = (subject, issuer)
        (self.serialNumber, self.extensions) = (serialNumber, extensions)
    }

    /// The DER of a certificate for `key`, signed with the same key.
    ///
    /// libcrypto: `X509_sign`
    package func signed(by key: Handle<EVP_PKEY>) throws(OpenSSLError) -> [UInt8] {
        let certificate = try Owned<X509>(X509_new(), "X509_new")
        return try withPointers(certificate, key.owned) { certificate, key throws(OpenSSLError) in
            try check(X509_set_version(certificate, 2), "X509_set_version")
            try check(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serialNumber), "ASN1_INTEGER_set")
            X509_gmtime_adj(X509_getm_notBefore(certificate), -1800)
            X509_gmtime_adj(X509_getm_notAfter(certificate), 1800)
            try Self.setName(subject, of: X509_get_subject_name(certificate))
            try Self.setName(issuer, of: X509_get_issuer_name(certificate))
            try check(X509_set_pubkey(certificate, key), "X509_set_pubkey")
            for item in extensions { try Self.add(item, to: certificate) }
            try check(X509_sign(certificate, key, EVP_sha256()), "X509_sign")
            return try encodedCertificate(certificate)
        }
    }

    private static func setName(_ text: String, of name: OpaquePointer?) throws(OpenSSLError) {
        let result = X509_NAME_add_entry_by_txt(name, "CN", V_ASN1_UTF8STRING, text, -1, -1, 0)
        try check(result, "X509_NAME_add_entry_by_txt")
    }

    private static func add(_ item: Extension, to certificate: OpaquePointer) throws(OpenSSLError) {
        guard let identifier = OBJ_txt2obj(item.identifier, 1) else { throw OpenSSLError("OBJ_txt2obj") }
        defer { ASN1_OBJECT_free(identifier) }
        guard let octets = ASN1_OCTET_STRING_new() else { throw OpenSSLError("ASN1_OCTET_STRING_new") }
        defer { ASN1_OCTET_STRING_free(octets) }
        try check(ASN1_OCTET_STRING_set(octets, item.value, CInt(item.value.count)), "ASN1_OCTET_STRING_set")
        let made = X509_EXTENSION_create_by_OBJ(nil, identifier, item.isCritical ? 1 : 0, octets)
        guard let made else { throw OpenSSLError("X509_EXTENSION_create_by_OBJ") }
        defer { X509_EXTENSION_free(made) }
        try check(X509_add_ext(certificate, made, -1), "X509_add_ext")
    }
}
