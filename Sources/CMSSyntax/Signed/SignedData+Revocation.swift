package import PKIX

extension SignedData {
    /// The readable revocation lists and OCSP responses in the object.
    ///
    /// RFC 5652 §10.2.1, RFC 5940
    package var revocationEvidence: RevocationEvidence {
        var evidence = RevocationEvidence()
        evidence.certificateLists = crls.compactMap { try? CertificateList(der: $0) }
        evidence.responses = crls.compactMap { OCSPResponse(otherRevocationInfo: $0) }
        return evidence
    }
}
