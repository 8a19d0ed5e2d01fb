extension Certificate {
    /// The issuer of this certificate, the issuer of that issuer, and so on, as far as `known` has their certificates.
    ///
    /// No signature is verified: the names in the certificates decide. A root is preferred to a certificate of the same name
    /// that another authority issued.
    package func issuers(among known: [Certificate]) -> [Certificate] {
        var (chain, last) = ([Certificate](), self)
        var seen: Set<Fingerprint> = [fingerprint]
        while !last.isSelfIssued {
            let issuers = known.filter { $0.subject.matches(last.issuer) }
            guard let issuer = issuers.first(where: \.isSelfIssued) ?? issuers.first,
                seen.insert(issuer.fingerprint).inserted
            else { break }
            chain.append(issuer)
            last = issuer
        }
        return chain
    }
}
