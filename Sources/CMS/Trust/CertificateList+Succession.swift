import COpenSSL

extension CertificateList {
    /// Whether this list says all that `older` says and more: it is later, by the same key, and about the same
    /// certificates. Lists of changes since another one are compared with each other alone.
    ///
    /// RFC 5280 §5.2.1, §5.2.4, §5.2.5
    public func supersedes(_ older: CertificateList) -> Bool {
        guard thisUpdate > older.thisUpdate, issuer.matches(older.issuer), let own = try? scope,
            let other = try? older.scope
        else { return false }
        return own == other
    }

    /// Whose key signed it, and which certificates it is about.
    private struct Scope: Equatable {
        let keyIdentifier: [UInt8]?
        let distributionPoint: [UInt8]?
        let isDelta: Bool
    }

    private var scope: Scope {
        get throws {
            let values = try extensionValues([
                NID_authority_key_identifier, NID_issuing_distribution_point, NID_delta_crl,
            ])
            return Scope(keyIdentifier: values[0], distributionPoint: values[1], isDelta: values[2] != nil)
        }
    }

    /// The values of the list's extensions `identifiers`, in DER; nil for each that it has not.
    ///
    /// libcrypto: `X509_CRL_get_ext_by_NID`
    func extensionValues(_ identifiers: [Int32]) throws -> [[UInt8]?] {
        defer { ERR_clear_error() }
        return try x509CRL().withPointer { list in
            identifiers.map { identifier in
                guard let found = X509_CRL_get_ext(list, X509_CRL_get_ext_by_NID(list, identifier, -1)),
                    let octets = X509_EXTENSION_get_data(found), let start = ASN1_STRING_get0_data(octets)
                else { return nil }
                return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(octets))))
            }
        }
    }
}
