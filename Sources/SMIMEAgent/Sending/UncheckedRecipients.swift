package import PKIX

extension [KeyMaterial] {
    /// The certificates in a file that can be used for encryption. Their chains are not checked.
    ///
    /// - Parameter file: the file's name in messages.
    /// - Throws: `AgentError.noRecipientCertificate`, `AgentError.weakRecipientKey`
    package func uncheckedRecipients(of file: String) throws(AgentError) -> [Certificate] {
        var certificates: [Certificate] = []
        for case .certificate(let certificate) in self where !certificate.isCertificateAuthority {
            certificates.append(certificate)
        }
        guard !certificates.isEmpty else { throw .noRecipientCertificate(file: file) }
        if let weak = certificates.first(where: \.publicKeyAlgorithm.isWeak) {
            throw .weakRecipientKey(file: file, weak)
        }
        return certificates
    }
}
