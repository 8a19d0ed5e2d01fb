import COpenSSL

/// The revocation lists that may speak for a path.
struct RevocationLists {
    let lists: [CertificateList]
    /// Lists that bear an authority's name but not its signature.
    private let forged: [CertificateList]

    /// The most lists that one verification looks at.
    private static let maximumLists = 64

    /// Leaves out what no authority of `path` can have signed: a forged list must neither revoke nor hide anything.
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

    var isEmpty: Bool { lists.isEmpty && forged.isEmpty }

    /// libcrypto: `X509_CRL_verify`
    private static func isSigned(_ list: CertificateList, by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        let result = try? withPointers(list.x509CRL(), issuer.publicKey().owned) { X509_CRL_verify($0, $1) }
        return result == 1
    }

    /// What libcrypto found out with these lists.
    func status(_ findings: [PathVerification.Finding], _ path: CertificatePath) -> ChainVerdict.Revocation {
        var problems = forged.map {
            Problem("crl-signature", .warning, "a revocation list in the name of \($0.issuer) is not signed by it")
        }
        var status = lists.isEmpty ? ChainVerdict.Revocation.Status.unknown : .good
        // An anchor cannot be revoked by a list of its own.
        let end = path.end == .anchor ? path.certificates.count - 1 : path.certificates.count
        var unreliable: Set<Int> = []
        for finding in findings where finding.depth < end {
            let name = path.certificates[finding.depth].subject
            switch finding.code {
            case X509_V_ERR_CERT_REVOKED where !unreliable.contains(finding.depth):
                status = .revoked
                let code = finding.depth == 0 ? "certificate-revoked" : "chain-revoked"
                problems.append(Problem(code, .error, "\(name) was revoked by its issuer"))
            case X509_V_ERR_CRL_HAS_EXPIRED:
                problems.append(Problem("crl-expired", .warning, "the revocation list for \(name) is out of date"))
                if status == .good { status = .unknown }
            case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_CRL_NOT_YET_VALID:
                problems.append(
                    Problem("revocation-unknown", .warning, "no revocation list at hand speaks for \(name)")
                )
                if status == .good { status = .unknown }
            case X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_CRL_PATH_VALIDATION_ERROR,
                X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
                X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE:
                unreliable.insert(finding.depth)
                problems.append(
                    Problem("revocation-unknown", .warning, "the revocation list for \(name) cannot be trusted")
                )
                if status == .good { status = .unknown }
            default: break
            }
        }
        return ChainVerdict.Revocation(status: status, problems: problems)
    }
}
