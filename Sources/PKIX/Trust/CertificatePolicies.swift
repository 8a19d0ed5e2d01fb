/// The requirements for the certificate policies of a chain.
///
/// RFC 5280 §6.1.1
package struct CertificatePolicies: Hashable, Sendable {
    /// Dotted object identifiers of the policies of which one must be in force; with none of them any will do.
    package var acceptable: [String]
    /// Whether some policy must be in force at all. It is so where `acceptable` names one.
    package var isExplicit: Bool
    /// Whether a policy may not be mapped to another one.
    package var inhibitsMapping: Bool
    /// Whether anyPolicy has no effect.
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

    /// Whether `text` is an object identifier, dotted.
    package static func isIdentifier(_ text: String) -> Bool {
        let arcs = text.split(separator: ".", omittingEmptySubsequences: false)
        return (2...32).contains(arcs.count) && arcs.allSatisfy { UInt64($0) != nil && ($0 == "0" || $0.first != "0") }
            && ["0", "1", "2"].contains(arcs[0]) && (arcs[0] == "2" || (UInt64(arcs[1]) ?? 40) < 40)
    }
}
