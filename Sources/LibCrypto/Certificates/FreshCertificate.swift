import COpenSSL

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
