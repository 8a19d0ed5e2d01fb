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

    /// Whether names, key identifiers and key usage allow this certificate to be the issuer of `certificate`.
    ///
    /// Also true if the key usage does not allow signing certificates, or if libcrypto reports an unspecified error: the path
    /// builder follows such a path so that the report can name its defects.
    ///
    /// libcrypto: `X509_check_issued`
    package func mayHaveIssued(_ certificate: Handle<X509>) -> Bool {
        defer { ERR_clear_error() }
        let match = withPointers(owned, certificate.owned) { X509_check_issued($0, $1) }
        return [X509_V_OK, X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_UNSPECIFIED].contains(match)
    }

    /// Whether this certificate was signed with the key of `issuer`.
    ///
    /// libcrypto: `X509_verify`
    package func isSigned(by issuer: Handle<X509>) -> Bool {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        return withPointers(owned, issuer.owned) { X509_verify($0, X509_get0_pubkey($1)) == 1 }
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
