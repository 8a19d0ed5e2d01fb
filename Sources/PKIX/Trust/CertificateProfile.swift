#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Additional rules for certificates. A certificate that violates them can still be valid.
package enum CertificateProfile: String, CaseIterable, Hashable, Sendable {
    /// The baseline requirements of the CA/Browser Forum for S/MIME certificates, in their strict and multipurpose
    /// generations. Violations are warnings.
    ///
    /// SMBR 1.0.10
    case strict

    /// The violations in a chain, beginning with the judged certificate; trust anchors are not checked.
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
            let text = "\(leaf.subject) is valid for \(Int(days)) days, and may be for \(Int(maximumDays))"
            problems.append(Problem(.profileValidity, text))
        }
        // §7.1.2.3 f
        let usages = Set(leaf.extendedKeyUsages ?? [])
        if !usages.contains("1.3.6.1.5.5.7.3.4") {
            problems.append(Problem(.profilePurpose, "\(leaf.subject) does not name emailProtection as its purpose"))
        } else if let other = usages.sorted().first(where: forbiddenUsages.keys.contains) {
            let name = forbiddenUsages[other] ?? other
            problems.append(Problem(.profilePurpose, "\(leaf.subject) has the purpose \(name) beside emailProtection"))
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
