package import PKIX

/// The end of a certificate's chain, as far as the store has its certificates.
package enum ChainEnd: Sendable {
    /// The chain ends with this self-issued certificate.
    case root(Certificate)
    /// The store has no certificate of the authority that issued this certificate.
    case missingIssuer(of: Certificate)

    /// The self-issued certificate; nil if the store does not have it.
    package var root: Certificate? {
        if case .root(let certificate) = self { certificate } else { nil }
    }
}

extension AnchorStore {
    /// The end of the chain of `certificate`; the certificate itself if it is self-issued.
    package func chainEnd(above certificate: Certificate) async throws(KeystoreError) -> ChainEnd {
        let authorities = try await chain(above: certificate, includingRoots: true)
        let last = IssuerSearch(among: authorities).issuers(of: certificate).last ?? certificate
        return last.isSelfIssued ? .root(last) : .missingIssuer(of: last)
    }
}
