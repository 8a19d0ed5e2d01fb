extension SignedData {
    /// What OCSP responders said, as it rides along.
    ///
    /// RFC 5652 §10.2.1, RFC 5940
    public var ocspResponses: [OCSPResponse] { crls.compactMap { OCSPResponse(otherRevocationInfo: $0) } }
}
