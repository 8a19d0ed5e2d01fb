package import Foundation
import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

/// The certificates of an account that others should have: those that it uses today.
package struct PublishedCertificates: Sendable {
    /// The one that its mail is signed with; nil if none can be used.
    package let signing: Certificate?
    /// The one that others encrypt to; nil if none can be used.
    package let encryption: Certificate?
    /// The authorities above both, without roots: who wants to trust a root gets it from its owner.
    package let authorities: [Certificate]

    /// Each certificate once, without the authorities.
    package var all: [Certificate] {
        [signing, encryption == signing ? nil : encryption].compactMap(\.self)
    }

    /// - Parameters:
    ///   - fingerprint: the only certificate to hand out; nil is those in use.
    ///   - verdicts: what is known against the account's certificates.
    /// - Throws: `KeystoreError.noUsableIdentity` if none can be used today, `KeystoreError.unknownCertificate`
    package init(
        of account: Account,
        only fingerprint: Fingerprint?,
        at time: Date,
        verdicts: CertificateVerdicts,
        in store: Store
    ) async throws {
        if let fingerprint {
            guard let own = account.identities.map(\.certificate).first(where: { $0.fingerprint == fingerprint }) else {
                throw KeystoreError.unknownCertificate(fingerprint)
            }
            (signing, encryption) = (own.canSign ? own : nil, own.canEncrypt ? own : nil)
        } else {
            func current(_ purpose: IdentitySelection.Purpose) -> Certificate? {
                IdentitySelection.current(
                    of: account.identities,
                    for: account.address,
                    purpose: purpose,
                    at: time,
                    verdicts: verdicts
                )?.certificate
            }
            (signing, encryption) = (current(.signing), current(.encryption))
        }
        let chosen = [signing, encryption].compactMap(\.self)
        guard !chosen.isEmpty else {
            throw KeystoreError.noUsableIdentity(
                account.address,
                why: "the account has no identity that can be used today"
            )
        }
        var above: [Certificate] = []
        for certificate in chosen {
            for authority in try await store.anchors.chain(above: certificate, includingRoots: false)
            where !above.contains(authority) { above.append(authority) }
        }
        authorities = above
    }
}

extension PublishedCertificates {
    /// The signature of the account over `content`, with the chain; nil if it cannot sign today.
    ///
    /// - Parameters:
    ///   - identities: those of the account.
    ///   - isAttached: whether the content is inside.
    package func signature(by identities: [Identity], over content: [UInt8], isAttached: Bool) throws -> [UInt8]? {
        guard let signing, var signer = identities.first(where: { $0.certificate == signing }) else { return nil }
        signer.chain = authorities
        signer.encryptionCertificate = encryption
        return try CryptographicMessage.sign(CryptographicMessage.Content(content), by: signer, isAttached: isAttached)
    }
}
