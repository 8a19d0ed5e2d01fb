import COpenSSL

/// The revocation lists that may speak for a path.
struct RevocationLists {
    let lists: [CertificateList]
    /// Lists that bear an authority's name but not its signature.
    let forged: [CertificateList]

    /// The most lists that one verification looks at.
    private static let maximumLists = 64

    /// Leaves out what none of `path`, nor of those beside it, can have signed: a forged list must neither revoke nor hide anything.
    init(_ all: [CertificateList], for path: [Certificate]) {
        let named =
            all.count <= Self.maximumLists
            ? all : all.filter { list in path.contains { $0.issuer.matches(list.issuer) } }
        var (lists, forged): ([CertificateList], [CertificateList]) = ([], [])
        for list in named.prefix(Self.maximumLists) {
            let issuers = path.filter { $0.subject.matches(list.issuer) }
            if issuers.isEmpty || issuers.contains(where: { Self.isSigned(list, by: $0) }) {
                lists.append(list)
            } else {
                forged.append(list)
            }
        }
        (self.lists, self.forged) = (lists, forged)
    }

    /// libcrypto: `X509_CRL_verify`
    static func isSigned(_ list: CertificateList, by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        let result = try? withPointers(list.x509CRL(), issuer.publicKey().owned) { X509_CRL_verify($0, $1) }
        return result == 1
    }
}
