import LibCrypto

/// Finds the issuers of certificates among known certificates, for showing, exporting and completing chains.
///
/// The key of each issuer verifies the signature on the certificate below it. If verifying all signatures takes too long,
/// chains end early. Whether a chain is valid is decided by ``PathValidator``.
package struct IssuerSearch {
    private let known: [EncodingKey: [Certificate]]
    private let check = IssuanceCheck(budget: WorkBudget())

    package init(among known: [Certificate]) {
        self.known = Dictionary(grouping: known) { $0.subject.canonical }
    }

    /// The issuer of `certificate`, the issuer of that issuer, and so on, as far as their certificates are known. A root is
    /// preferred to a certificate of the same name that another authority issued.
    package func issuers(of certificate: Certificate) -> [Certificate] {
        var (chain, last) = ([Certificate](), certificate)
        var seen: Set<Fingerprint> = [certificate.fingerprint]
        while !last.isSelfIssued {
            let issuers = issuers(directlyAbove: last)
            guard let issuer = issuers.first(where: \.isSelfIssued) ?? issuers.first,
                seen.insert(issuer.fingerprint).inserted
            else { break }
            chain.append(issuer)
            last = issuer
        }
        return chain
    }

    /// All known certificates in any chain above `certificate`, the nearest first.
    package func allIssuers(of certificate: Certificate) -> [Certificate] {
        var (found, level) = ([Certificate](), [certificate])
        var seen: Set<Fingerprint> = [certificate.fingerprint]
        while !level.isEmpty {
            level = level.flatMap(issuers(directlyAbove:)).filter { seen.insert($0.fingerprint).inserted }
            found += level
        }
        return found
    }

    /// The top of each chain above `certificate`: a root, or an authority whose issuer is not known. If a root is among them,
    /// other certificates of the root's key are left out.
    package func tops(above certificate: Certificate) -> [Certificate] {
        let tops = allIssuers(of: certificate).filter { $0.isSelfIssued || issuers(directlyAbove: $0).isEmpty }
        let roots = Set(tops.filter(\.isSelfIssued).map(\.publicKeyDigest))
        return tops.filter { $0.isSelfIssued || !roots.contains($0.publicKeyDigest) }
    }

    /// Those of `allIssuers(of:)` that are in a chain to one of `anchors`. If there are none, the result of `issuers(of:)`.
    ///
    /// Anyone can certify the key of an authority under another root, so that there is a second chain.
    package func issuers(of certificate: Certificate, leadingTo anchors: Set<Certificate>) -> [Certificate] {
        let all = allIssuers(of: certificate)
        var leading = Set(all.filter(anchors.contains))
        guard !leading.isEmpty else { return issuers(of: certificate) }
        var count = 0
        while leading.count > count {
            count = leading.count
            leading.formUnion(all.filter { !leading.isDisjoint(with: issuers(directlyAbove: $0)) })
        }
        return all.filter(leading.contains)
    }

    /// The known certificates whose keys signed `certificate`.
    private func issuers(directlyAbove certificate: Certificate) -> [Certificate] {
        guard !certificate.isExcessive else { return [] }
        return (known[certificate.issuer.canonical] ?? []).filter {
            !$0.isExcessive && check.isSigned(certificate, by: $0)
        }
    }
}
