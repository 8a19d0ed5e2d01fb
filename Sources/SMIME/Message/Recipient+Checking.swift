public import CMSSyntax
import LibCrypto
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Recipient {
    /// A recipient whose certificate is suitable for encryption.
    ///
    /// Whether the certificate is trusted or revoked is not checked: see `TrustStore.problems(of:for:at:)`.
    ///
    /// - Parameters:
    ///   - certificate: the certificate to encrypt to.
    ///   - capabilities: the algorithms that the recipient announced; nil uses those that the certificate announces.
    ///   - time: the time at which the certificate must be valid.
    /// - Throws: `.unusableRecipient` for a certificate that belongs to an authority, is not for encryption, is weak, or is
    ///   not valid at `time`.
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

    /// Everyone who knows `password` (RFC 5652 §6.2.4). Few mail programs can decrypt such a message.
    ///
    /// An attacker who has the message can try passwords without limit, so a short password will be found.
    public init(password: String) { self.init(SharedSecret(password: Passphrase(password.utf8))) }
}

extension [Recipient] {
    /// The best cipher that all recipients support.
    ///
    /// - Throws: `.noCommonCipher`
    func commonCipher(demanded cipher: ContentCipher?) throws(SMIMEError) -> ContentCipher {
        // A password announces no capabilities, so the certificates alone determine the cipher.
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
