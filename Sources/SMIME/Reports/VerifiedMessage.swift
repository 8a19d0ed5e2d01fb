import CMSSyntax
public import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A message that verifiably was signed as a whole by its author, with the data to learn from it.
///
/// Only `MessageOpener` creates a value, and only if all of this holds:
/// - The verdict is valid, and no algorithm is weak, even if the caller accepts weak ones.
/// - The signatures that determine the verdict are by one signer and cover everything.
/// - The signer's certificate names the author in From.
///
/// The value contains no data about other people.
public struct VerifiedMessage: Sendable {
    /// The address in From that the signer's certificate names.
    public let author: EmailAddress
    /// The certificate of the signature.
    public let signerCertificate: Certificate
    /// Another trusted certificate of the author, to which mail should be encrypted: it is in the message, names the author
    /// and is suitable for encryption. Nil if there is none.
    ///
    /// RFC 8551 §2.5.3
    public let encryptionCertificate: Certificate?
    /// The authorities above the signer's certificate, nearest first, without self-issued ones; empty if there is no anchor.
    public let authorities: [Certificate]
    /// Whether the chain ends at an anchor; otherwise the signer is trusted because the certificate itself was pinned.
    public let isAnchored: Bool
    /// The DER of the SMIMECapabilities that the author announces (RFC 8551 §2.5.2); nil if there are none.
    public let capabilities: [UInt8]?
    /// The signing time that the author claims; nil if there is none, or none that can be read.
    public let signingTime: Date?
    /// The Message-ID as written, cut to 998 characters. It is not protected.
    public let messageID: String?

    /// The message as evidence from which the store may learn, according to `report`; nil if nothing may be learned.
    init?(_ report: VerificationReport, header: HeaderBlock) {
        // The innermost signature that determines the verdict is the signature over the content.
        guard report.status == .valid, report.coverage == .whole, let signer = report.signers.last,
            let certificate = signer.certificate, let evidence = signer.evidence,
            report.layers.allSatisfy({ !$0.isDecisive || $0.signers.count == 1 }),
            report.signers.allSatisfy({ $0.certificate == certificate }),
            // A user who accepts weak signatures to read an archive does not want to encrypt mail to the signers'
            // certificates.
            !report.signers.contains(where: \.isWeak),
            let author = SignerIdentity(header).author(named: certificate)
        else { return nil }
        self.author = author
        signerCertificate = certificate
        encryptionCertificate = evidence.preferred.flatMap {
            $0 != certificate && SignerIdentity(header).author(named: $0) == author ? $0 : nil
        }
        authorities = evidence.authorities
        isAnchored = evidence.isAnchored
        capabilities = evidence.capabilities
        signingTime = signer.signingTime
        messageID = header.first("Message-ID").map { String($0.value.prefix(998)) }
    }
}

/// The evidence from one signature that the store saves, in addition to the verdict.
struct SignerEvidence: Sendable {
    /// The maximum number of certificates to check if the signer's preference matches several.
    private static let preferenceLimit = 4

    let authorities: [Certificate]
    let isAnchored: Bool
    let capabilities: [UInt8]?
    /// A trusted certificate, suitable for encryption, that the signer prefers; nil if there is none. Whether it belongs to
    /// the signer is checked later.
    let preferred: Certificate?

    /// The evidence from a signature, according to `verdict` on the signer's certificate; nil if the certificate is revoked.
    init?(
        _ signer: SignerInfo,
        verdict: ChainVerdict,
        among certificates: [Certificate],
        _ validator: PathValidator,
        at time: Date
    ) {
        guard verdict.revocation?.status != .revoked else { return nil }
        if case .anchor? = verdict.trust { isAnchored = true } else { isAnchored = false }
        authorities =
            isAnchored ? verdict.certificates.dropFirst().filter { $0.isCertificateAuthority && !$0.isSelfIssued } : []
        capabilities = signer.capabilitiesEncoding
        preferred = signer.encryptionKeyPreference.flatMap { preference in
            certificates.lazy.filter { preference.matches($0) }.prefix(Self.preferenceLimit).first {
                guard $0.canEncrypt, !$0.publicKeyAlgorithm.isWeak else { return false }
                let verdict = validator.judge($0, extra: certificates, purpose: .encryption, at: time)
                guard case .anchor? = verdict.trust, verdict.isTrusted, !verdict.isWeak else { return false }
                return !verdict.timeProblems.contains { $0.level == .error } && verdict.revocation?.status != .revoked
            }
        }
    }
}
