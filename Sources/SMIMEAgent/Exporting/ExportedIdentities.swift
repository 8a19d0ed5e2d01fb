package import InternetMessage
package import PKIX
package import SMIMEStore

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
