#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Additional rules for certificates. A certificate that violates them can still be valid.
package enum CertificateProfile: String, CaseIterable, Hashable, Sendable {
    /// Rules of the baseline requirements of the CA/Browser Forum for S/MIME certificates that apply to both the strict and
    /// the multipurpose generation: validity period, extended key usage, keys and signature algorithms. Violations are
    /// warnings.
    ///
    /// SMBR 1.0.10
    case strict

    /// The violations in `chain`, which begins with the judged certificate. A trust anchor above that certificate is not
    /// checked.
    func problems(_ chain: [Certificate], endsAtAnchor: Bool) -> [Problem] {
        guard let leaf = chain.first else { return [] }
        let judged = endsAtAnchor && chain.count > 1 ? chain.dropLast() : chain[...]
        return Self.leafProblems(leaf) + judged.flatMap(Self.commonProblems)
    }

    /// The maximum validity of a certificate in the strict and multipurpose generations, in days (§6.3.2).
    private static let maximumDays = 825.0

    private static func leafProblems(_ leaf: Certificate) -> [Problem] {
        var problems: [Problem] = []
        let days = leaf.notAfter.timeIntervalSince(leaf.notBefore) / 86_400
        if days > maximumDays {
            // A part of a day counts as a day (SMBR §6.3.2).
            let counted = Int(days.rounded(.up))
            let text = "\(leaf.subject) is valid for \(counted) days; the maximum is \(Int(maximumDays))"
            problems.append(Problem(.profileValidity, text))
        }
        // §7.1.2.3 f
        let usages = Set(leaf.extendedKeyUsages ?? [])
        if !usages.contains("1.3.6.1.5.5.7.3.4") {
            problems.append(Problem(.profilePurpose, "\(leaf.subject) does not name emailProtection as its purpose"))
        } else if let other = usages.sorted().first(where: forbiddenUsages.keys.contains) {
            let name = forbiddenUsages[other] ?? other
            problems.append(
                Problem(.profilePurpose, "\(leaf.subject) has the purpose \(name) in addition to emailProtection")
            )
        }
        return problems
    }

    private static let forbiddenUsages = [
        "1.3.6.1.5.5.7.3.1": "serverAuth", "1.3.6.1.5.5.7.3.3": "codeSigning", "1.3.6.1.5.5.7.3.8": "timeStamping",
        "2.5.29.37.0": "anyExtendedKeyUsage",
    ]

    /// The rules of §6.1.5 and §7.1.3.
    private static func commonProblems(_ certificate: Certificate) -> [Problem] {
        var problems: [Problem] = []
        let key = certificate.publicKeyAlgorithm
        switch key {
        case .rsa(let bits), .rsaPSS(let bits):
            if bits < 2048 || !bits.isMultiple(of: 8) {
                let text = "the RSA key of \(certificate.subject) has \(bits) bits"
                problems.append(Problem(.profileKeySize, text))
            }
        case .ellipticCurve("P-256"), .ellipticCurve("P-384"), .ellipticCurve("P-521"), .ed25519: break
        default: problems.append(Problem(.profileAlgorithm, "the key of \(certificate.subject) is of kind \(key)"))
        }
        if !signatureAlgorithms.contains(certificate.signatureAlgorithm) {
            let text = "the certificate of \(certificate.subject) is signed with \(certificate.signatureAlgorithm)"
            problems.append(Problem(.profileAlgorithm, text))
        }
        return problems
    }

    private static let signatureAlgorithms: Set = [
        "ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512", "ed25519", "ed448", "rsa-pss", "rsa-sha256", "rsa-sha384",
        "rsa-sha512",
    ]
}

/// The requirements for the certificate policies of a chain.
///
/// RFC 5280 §6.1.1
package struct CertificatePolicies: Hashable, Sendable {
    /// Dotted OIDs of the acceptable policies, one of which must be valid for the whole chain; if empty, any policy is
    /// acceptable.
    package var acceptable: [String]
    /// Whether at least one policy must be valid for the whole chain; `init` sets this to true if `acceptable` is not empty.
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

    /// Whether `certificate`, which is trusted without a chain, itself has an acceptable policy. True if no
    /// policy is required.
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
        return (2...32).contains(arcs.count) && arcs.allSatisfy(isArc)
            && ["0", "1", "2"].contains(arcs[0]) && (arcs[0] == "2" || (UInt64(arcs[1]) ?? 40) < 40)
    }

    /// Whether `text` is a decimal number without a sign and without leading zeros.
    private static func isArc(_ text: Substring) -> Bool {
        UInt64(text) != nil && text.first != "+" && (text == "0" || text.first != "0")
    }
}
