import LibCrypto

/// Checks whether one certificate issued another. The cost of each signature is spent from a budget.
struct IssuanceCheck {
    /// A certificate and a possible issuer. Whether the issuer signed the certificate depends only on these two.
    private struct Edge: Hashable {
        let child: Fingerprint
        let issuer: Fingerprint
    }
    private static let checked = BoundedCache<Edge, Bool>(capacity: 1024)

    let budget: WorkBudget

    /// Whether `issuer` may have issued `certificate`, and the certificate's signature can be verified with the issuer's key.
    /// False if libcrypto cannot check this, or if the budget is exhausted and the result is not cached.
    func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        let edge = Edge(child: certificate.fingerprint, issuer: issuer.fingerprint)
        budget.spend(1)
        if let known = Self.checked[edge] { return known }
        guard !budget.isSpent else { return false }
        budget.spend(WorkBudget.reading + certificate.readingCost + issuer.readingCost)
        let cost = issuer.verificationCost
        guard let child = try? certificate.x509(), let parent = try? issuer.x509() else {
            // libcrypto could not check the signature. This result is not cached, so each attempt spends budget.
            budget.spend(cost)
            return false
        }
        guard parent.mayHaveIssued(child) else {
            Self.checked[edge] = false
            return false
        }
        budget.spend(cost)
        guard let isSigned = child.isSigned(by: parent) else { return false }
        Self.checked[edge] = isSigned
        return isSigned
    }
}
