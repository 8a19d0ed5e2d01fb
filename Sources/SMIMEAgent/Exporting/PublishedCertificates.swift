import CertificateDiscovery
package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

/// The certificates that an account publishes for its correspondents: those that it uses today.
package struct PublishedCertificates: Sendable {
    /// The certificate that the account signs its mail with; nil if none can be used.
    package let signing: Certificate?
    /// The certificate that others encrypt to; nil if none can be used.
    package let encryption: Certificate?
    /// The authorities above `signing` and `encryption`; if both are nil, those above the unusable certificate. Roots are
    /// left out, because correspondents must get a root from the authority itself.
    package let authorities: [Certificate]

    /// The signing and the encryption certificate, without the authorities; only one if both are the same.
    package var all: [Certificate] {
        [signing, encryption == signing ? nil : encryption].compactMap(\.self)
    }

    /// - Parameters:
    ///   - fingerprint: the only certificate to publish; if nil, the certificates in use are published.
    ///   - keepsUnusable: whether it is no error if the certificate `fingerprint` is unusable today, as in an export
    ///     for its owner. `signing` and `encryption` are then nil.
    ///   - verdicts: the known faults of the account's certificates.
    /// - Throws: `KeystoreError.noUsableIdentity` if no certificate can be used today, `KeystoreError.unknownCertificate`
    package init(
        of account: Account,
        only fingerprint: Fingerprint?,
        keepsUnusable: Bool,
        at time: Date,
        verdicts: CertificateVerdicts,
        in store: Store
    ) async throws {
        let only = account.identities.first { $0.certificate.fingerprint == fingerprint }
        if let fingerprint, only == nil { throw KeystoreError.unknownCertificate(fingerprint) }
        func current(_ purpose: IdentitySelection.Purpose) -> Certificate? {
            IdentitySelection.current(
                of: only.map { [$0] } ?? account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )?.certificate
        }
        (signing, encryption) = (current(.signing), current(.encryption))
        var chosen = [signing, encryption].compactMap(\.self)
        if chosen.isEmpty, keepsUnusable, let only { chosen = [only.certificate] }
        guard !chosen.isEmpty else {
            let which = fingerprint.map { "the identity \($0) cannot" } ?? "the account has no identity that can"
            throw KeystoreError.noUsableIdentity(account.address, why: "\(which) be used today")
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
    /// The account's signature over `content`, with the chain; nil if the account cannot sign today.
    ///
    /// - Parameters:
    ///   - identities: the identities of the account.
    ///   - isAttached: whether the signature includes the content.
    package func signature(by identities: [Identity], over content: [UInt8], isAttached: Bool) throws -> [UInt8]? {
        guard let signing, var signer = identities.first(where: { $0.certificate == signing }) else { return nil }
        signer.chain = authorities
        signer.encryptionCertificate = encryption
        // `signing` was checked when it was chosen.
        return try CryptographicMessage.sign(
            CryptographicMessage.Content(content),
            by: signer,
            isAttached: isAttached,
            isChecked: false
        )
    }
}

/// The DNS record that publishes the certificate of an address (RFC 8162).
package struct SMIMEARecord {
    private let owner: String
    private let certificate: Certificate

    /// - Throws: `OpenSSLError`
    package init(of address: EmailAddress, _ certificate: Certificate) throws {
        owner = try SMIMEAName.name(of: address.localPart, at: address.asciiDomain) + "."
        self.certificate = certificate
    }

    /// The line of the zone file. It contains the whole certificate, which is trusted because the domain publishes it
    /// (DANE-EE: usage 3, selector 0, matching type 0; RFC 7218).
    package var zoneLine: String { "\(owner) IN SMIMEA 3 0 0 \(certificate.der.hexadecimal)\n" }
}

/// The identities of an account to export, and the certificates that accompany them.
package struct ExportedIdentities: Sendable {
    package let identities: [Identity]
    /// The certificates of the authorities above the identities, including roots, each once.
    package let chain: [Certificate]

    /// - Parameter fingerprint: the only certificate to export; if nil, all are exported.
    /// - Throws: `KeystoreError.noUsableIdentity` if there is none, `KeystoreError.unknownCertificate`
    package init(of address: EmailAddress, only fingerprint: Fingerprint?, in store: Store) async throws {
        let all = try await store.accounts.identities(of: address)
        let chosen = all.filter { fingerprint == nil || $0.certificate.fingerprint == fingerprint }
        guard !chosen.isEmpty else {
            guard let fingerprint else {
                throw KeystoreError.noUsableIdentity(address, why: "the account has no identity")
            }
            throw KeystoreError.unknownCertificate(fingerprint)
        }
        var chain: [Certificate] = []
        for own in chosen {
            for certificate in try await store.anchors.chain(above: own.certificate, includingRoots: true)
            where !chain.contains(certificate) { chain.append(certificate) }
        }
        identities = chosen.map { Identity(unchecked: $0.certificate, $0.key, friendlyName: address.text) }
        self.chain = chain
    }
}
