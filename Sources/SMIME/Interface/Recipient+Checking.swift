public import CMSSyntax
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Recipient {
    /// A recipient with a certificate that may be encrypted to.
    ///
    /// Whether it is trusted, and whether it was revoked, is not looked at: see `TrustStore.problems(of:for:at:)`.
    ///
    /// - Parameters:
    ///   - certificate: the certificate to encrypt to.
    ///   - capabilities: what the recipient announces to read; nil takes what the certificate says.
    ///   - time: when the certificate must be valid.
    /// - Throws: `.unusableRecipient` for a certificate that is an authority's, not for encryption, weak, or not valid at `time`.
    public init(
        _ certificate: Certificate,
        capabilities: [SMIMECapability]? = nil,
        at time: Date = .now
    ) throws(SMIMEError) {
        do { try CertificateFitness.checkRecipient(certificate, at: time) } catch { throw SMIMEError(error) }
        let known = capabilities ?? certificate.capabilitiesEncoding.flatMap { try? SMIMECapability.list($0) }
        let party = CipherNegotiation.Party(name: "", certificate: certificate, capabilities: known)
        self.init(unchecked: certificate, rsaWrapping: CipherNegotiation.wrapping(party, .aes256GCM))
        self.capabilities = known
    }
}

extension [Recipient] {
    /// The cipher that all of them read.
    ///
    /// - Throws: `.noCommonCipher`
    func commonCipher(demanded cipher: ContentCipher?) throws(SMIMEError) -> ContentCipher {
        let parties = map {
            CipherNegotiation.Party(
                name: "\($0.certificate.subject)",
                certificate: $0.certificate,
                capabilities: $0.capabilities
            )
        }
        return try SMIMEError.catching {
            try CipherNegotiation(for: parties, CipherNegotiation.Preferences(demanded: cipher)).cipher
        }
    }
}
