public import CMSSyntax
import LibCrypto
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

    /// Everyone who knows `password` (RFC 5652 §6.2.4). Few mail programs can open such a message.
    ///
    /// A short password is found by trying, for which the message is all that an attacker needs.
    public init(password: String) { self.init(SharedSecret(password: Passphrase(password.utf8))) }
}

extension [Recipient] {
    /// The cipher that all of them read.
    ///
    /// - Throws: `.noCommonCipher`
    func commonCipher(demanded cipher: ContentCipher?) throws(SMIMEError) -> ContentCipher {
        // A password announces no capabilities: it leaves the choice to the certificates.
        let parties = compactMap { recipient in
            recipient.certificate.map {
                CipherNegotiation.Party(name: "\($0.subject)", certificate: $0, capabilities: recipient.capabilities)
            }
        }
        return try SMIMEError.catching {
            try CipherNegotiation(for: parties, CipherNegotiation.Preferences(demanded: cipher)).cipher
        }
    }
}
