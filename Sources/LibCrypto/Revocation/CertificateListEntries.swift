import COpenSSL

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Certificate revocation lists as objects of libcrypto.
extension Handle<X509_CRL> {
    /// Reads the DER of a revocation list.
    ///
    /// libcrypto: `d2i_X509_CRL`
    package convenience init(certificateList der: [UInt8]) throws(OpenSSLError) {
        Libcrypto.start()
        let pointer = der.decoded { d2i_X509_CRL(nil, $0, $1) }
        self.init(try Owned<X509_CRL>(pointer, "d2i_X509_CRL"))
    }

    /// Whether the list revokes `certificate` or puts it on hold. False if the entry in the list removes a hold
    /// (removeFromCRL).
    ///
    /// libcrypto: `X509_CRL_get0_by_cert`
    package func revokes(_ certificate: Handle<X509>) -> Bool {
        defer { ERR_clear_error() }
        return withPointers(owned, certificate.owned) { Self.entry(of: $1, in: $0) != nil }
    }

    /// The revocation date of `certificate` in the list; nil if the list does not revoke the certificate, or if the date
    /// cannot be read.
    ///
    /// libcrypto: `X509_CRL_get0_by_cert`, `X509_REVOKED_get0_revocationDate`
    package func revocationDate(of certificate: Handle<X509>) -> Date? {
        defer { ERR_clear_error() }
        return withPointers(owned, certificate.owned) { list, certificate in
            Self.entry(of: certificate, in: list).flatMap { Date(moment: X509_REVOKED_get0_revocationDate($0)) }
        }
    }

    /// Whether the entry of `certificate` in the list removes a hold (removeFromCRL).
    ///
    /// libcrypto: `X509_CRL_get0_by_cert`
    package func removesHold(of certificate: Handle<X509>) -> Bool {
        defer { ERR_clear_error() }
        var entry: OpaquePointer?
        return withPointers(owned, certificate.owned) { X509_CRL_get0_by_cert($0, &entry, $1) == 2 }
    }

    private static func entry(of certificate: OpaquePointer, in list: OpaquePointer) -> OpaquePointer? {
        var entry: OpaquePointer?
        // The result 2 means an entry that removes a revocation (removeFromCRL).
        return X509_CRL_get0_by_cert(list, &entry, certificate) == 1 ? entry : nil
    }

    /// Whether this list was signed with `key`; nil if libcrypto cannot check this, for example for lack of memory.
    ///
    /// libcrypto: `X509_CRL_verify`
    package func isSigned(by key: Handle<EVP_PKEY>) -> Bool? {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        let result = withPointers(owned, key.owned) { X509_CRL_verify($0, $1) }
        return result != 1 && OpenSSLError.takeFatal() ? nil : result == 1
    }
}

extension Date {
    /// Converts libcrypto's time; nil if the time cannot be read.
    ///
    /// libcrypto: `ASN1_TIME_to_tm`
    init?(moment: UnsafePointer<ASN1_TIME>?) {
        var parts = tm()
        guard let moment, ASN1_TIME_to_tm(moment, &parts) == 1 else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}
