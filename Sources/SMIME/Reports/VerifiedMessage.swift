import CMSSyntax
public import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A message that its author is proven to have signed as a whole, with the data to learn from it.
///
/// Only `MessageOpener` makes one, and only if the verdict is valid, no algorithm is weak (accepted or not), one signature covers
/// everything, or several by the same signer inside each other, and the signer's certificate names the author in From. Nothing in it
/// is about other people.
public struct VerifiedMessage: Sendable {
    /// The address in From that the signer's certificate names.
    public let author: EmailAddress
    /// The certificate of the signature.
    public let signerCertificate: Certificate
    /// Another certificate of the author's that mail is to be encrypted to: it came along, names the author, is fit for
    /// encryption and trusted.
    ///
    /// RFC 8551 §2.5.3
    public let encryptionCertificate: Certificate?
    /// The authorities between the signer's certificate and an anchor, nearest first; roots are left out.
    public let authorities: [Certificate]
    /// Whether the chain leads to an anchor; else the signer is trusted because the certificate itself was pinned.
    public let isAnchored: Bool
    /// The DER of the SMIMECapabilities that the author announces (RFC 8551 §2.5.2).
    public let capabilities: [UInt8]?
    /// When the author says that it was signed.
    public let signingTime: Date?
    /// The Message-ID as it is written, which nothing protects.
    public let messageID: String?

    /// The message to learn from, by `report`; nil if nothing may be learned.
    init?(_ report: VerificationReport, header: HeaderBlock) {
        // The innermost decisive signature is the one over the content.
        guard report.status == .valid, report.coverage == .whole, let signer = report.signers.last,
            let certificate = signer.certificate, let evidence = signer.evidence,
            report.layers.allSatisfy({ !$0.isDecisive || $0.signers.count == 1 }),
            report.signers.allSatisfy({ $0.certificate == certificate }),
            // A user who accepts weak signatures to read an archive does not want to encrypt to their certificates.
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

/// The evidence for one signature that the registry stores, in addition to the verdict.
struct SignerEvidence: Sendable {
    /// How many certificates that the signer may mean by one name are looked at.
    private static let preferenceLimit = 4

    let authorities: [Certificate]
    let isAnchored: Bool
    let capabilities: [UInt8]?
    /// A trusted certificate, fit for encryption, that the signer prefers; whose it is remains to be seen.
    let preferred: Certificate?

    /// The evidence by `verdict` on the signer's certificate; nil if a list says that it is revoked.
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
