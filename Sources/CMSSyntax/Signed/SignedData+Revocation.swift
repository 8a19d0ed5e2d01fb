package import PKIX

extension SignedData {
    /// The revocation lists, and what OCSP responders said, that ride along and can be read.
    ///
    /// RFC 5652 §10.2.1, RFC 5940
    package var revocationEvidence: RevocationEvidence {
        var evidence = RevocationEvidence()
        evidence.certificateLists = crls.compactMap { try? CertificateList(der: $0) }
        evidence.responses = crls.compactMap { OCSPResponse(otherRevocationInfo: $0) }
        return evidence
    }
}
