/// The requirements for the certificate policies of a chain.
///
/// RFC 5280 §6.1.1
package struct CertificatePolicies: Hashable, Sendable {
    /// Dotted OIDs of the acceptable policies, one of which must be valid for the whole chain; if empty, any policy is
    /// acceptable.
    package var acceptable: [String]
    /// Whether at least one policy must be valid for the whole chain; always true if `acceptable` is not empty.
    package var isExplicit: Bool
    /// Whether mapping a policy to another one is forbidden.
    package var inhibitsMapping: Bool
    /// Whether the policy anyPolicy is ignored.
    package var inhibitsAnyPolicy: Bool

    package init(
        acceptable: [String] = [],
        isExplicit: Bool = false,
        inhibitsMapping: Bool = false,
        inhibitsAnyPolicy: Bool = false
    ) {
        self.acceptable = acceptable
        self.isExplicit = isExplicit || !acceptable.isEmpty
        self.inhibitsMapping = inhibitsMapping
        self.inhibitsAnyPolicy = inhibitsAnyPolicy
    }

    /// Whether `certificate`, which is trusted without a chain, itself has an acceptable policy, if one is required.
    func isMet(byTrusted certificate: Certificate) -> Bool {
        guard isExplicit else { return true }
        let stated = certificate.policies.filter { !inhibitsAnyPolicy || $0 != Self.any }
        guard !acceptable.isEmpty, !stated.contains(Self.any) else { return !stated.isEmpty }
        return !Set(acceptable).isDisjoint(with: stated)
    }

    /// The policy anyPolicy (RFC 5280 §4.2.1.4).
    private static let any = "2.5.29.32.0"

    /// Whether `text` is a dotted object identifier.
    package static func isIdentifier(_ text: String) -> Bool {
        let arcs = text.split(separator: ".", omittingEmptySubsequences: false)
        return (2...32).contains(arcs.count) && arcs.allSatisfy { UInt64($0) != nil && ($0 == "0" || $0.first != "0") }
            && ["0", "1", "2"].contains(arcs[0]) && (arcs[0] == "2" || (UInt64(arcs[1]) ?? 40) < 40)
    }
}
