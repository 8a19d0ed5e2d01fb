import CMSSyntax
import Foundation
import InternetMessage
import PKIX

/// What makes a certificate unusable, whatever chain it has.
enum CertificateFitness {
    /// - Throws: `MessageError.unusableSigner`
    static func checkSigner(_ identity: Identity, of header: HeaderBlock, at time: Date) throws(MessageError) {
        let certificate = identity.certificate
        let author = AuthorReading(header)
        let reason: String? =
            if !certificate.canSign {
                "the certificate may not sign mail"
            } else if let weakness = weakness(of: certificate, at: time) {
                weakness
            } else if let problem = author.firstProblem {
                "\(problem), so no signature would be valid"
            } else if let address = author.soleAddress, !certificate.mailAddresses.contains(address) {
                "the certificate does not name \(address), the address in From"
            } else {
                nil
            }
        if let reason { throw .unusableSigner("\(certificate.subject): \(reason)") }
    }

    /// - Throws: `MessageError.unusableRecipient`
    static func checkRecipient(_ certificate: Certificate, at time: Date) throws(MessageError) {
        let reason: String? =
            certificate.isCertificateAuthority
            ? "the certificate is an authority's"
            : certificate.canEncrypt
                ? weakness(of: certificate, at: time) : "the certificate may not be used for encryption"
        if let reason { throw .unusableRecipient("\(certificate.subject): \(reason)") }
    }

    private static func weakness(of certificate: Certificate, at time: Date) -> String? {
        if time < certificate.notBefore { return "the certificate is not valid yet" }
        if time > certificate.notAfter { return "the certificate has expired" }
        return certificate.publicKeyAlgorithm.isWeak ? "its key is too short: \(certificate.publicKeyAlgorithm)" : nil
    }
}

extension Recipient {
    /// A recipient with a certificate that may be encrypted to.
    ///
    /// Whether it is trusted, and whether it was revoked, is not looked at: see `TrustStore.judge`.
    ///
    /// - Parameters:
    ///   - capabilities: what the recipient announces to read; nil takes what the certificate says.
    ///   - time: when the certificate must be valid.
    /// - Throws: `MessageError.unusableRecipient` for a certificate that is an authority's, not for encryption, weak, or not valid at
    ///   `time`.
    package init(
        _ certificate: Certificate,
        capabilities: [SMIMECapability]? = nil,
        at time: Date = .now
    ) throws(MessageError) {
        try CertificateFitness.checkRecipient(certificate, at: time)
        let known = capabilities ?? certificate.capabilitiesEncoding.flatMap { try? SMIMECapability.list($0) }
        let party = CipherNegotiation.Party(name: "", certificate: certificate, capabilities: known)
        self.init(unchecked: certificate, rsaWrapping: CipherNegotiation.wrapping(party, .aes256GCM))
        self.capabilities = known
    }
}
