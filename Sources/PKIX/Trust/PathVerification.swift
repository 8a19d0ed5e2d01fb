package import LibCrypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The result of libcrypto's verification of a path.
package struct PathVerification {
    private(set) var problems: [Problem] = []
    /// Whether libcrypto checked the whole path, or the check was unnecessary.
    private(set) var isComplete = true

    init(_ path: CertificatePath, at date: Date, policies: CertificatePolicies, budget: WorkBudget) {
        let cost = PathCost(path.certificates)
        // libcrypto would take long to read such a certificate, for each signature.
        if let excess = cost.excessiveCertificate?.excessProblem {
            problems.append(excess)
            isComplete = false
            return
        }
        if let malformed = path.certificates.first(where: \.hasMalformedExtension) {
            // libcrypto would only report that it found no issuer.
            let text = "an extension of the certificate of \(malformed.subject) is malformed"
            problems.append(Problem(.chainInvalid, text))
            return
        }
        guard budget.trySpend(cost.units) else {
            let text = "the signatures, names and policies in the chain take too long to check"
            stop(text)
            return
        }
        do {
            var findings = try Self.verify(path.certificates, at: date, policies: policies)
            switch MailConstraints.judge(path.certificates) {
            case .nothing: break
            case .allAllowed: findings.removeAll { $0.depth == 0 && $0.code == .notPermitted }
            case .violation(let address):
                let text = "the name constraints of an authority in the chain forbid \(address)"
                problems.append(Problem(.chainNameConstraints, text))
            }
            problems += findings.compactMap { Self.problem($0, path.certificates) }
        } catch {
            stop("libcrypto cannot check the chain (\(error))")
        }
    }

    private mutating func stop(_ why: String) {
        problems.append(Problem(.chainNotChecked, why))
        isComplete = false
    }

    /// Verifies `path` with libcrypto, with its last certificate as the trust anchor.
    ///
    /// - Parameters:
    ///   - lists: revocation lists; if empty, revocation is not checked.
    ///   - others: certificates that are not in the path but may have signed lists.
    package static func verify(
        _ path: [Certificate],
        at date: Date,
        policies: CertificatePolicies = CertificatePolicies(),
        lists: [CertificateList] = [],
        others: [Certificate] = []
    ) throws(OpenSSLError) -> [ChainVerification.Finding] {
        let objects = try path.map { certificate throws(OpenSSLError) in try certificate.x509() }
        var verification = ChainVerification(objects, maximumDepth: PathBuilder.maximumDepth)
        verification.others = others.compactMap { try? $0.x509() }
        verification.checksRevocation = !lists.isEmpty
        // Lists that libcrypto cannot parse are left out.
        verification.lists = lists.compactMap { try? $0.object() }
        verification.policies = policies.acceptable
        verification.isPolicyExplicit = policies.isExplicit
        verification.inhibitsMapping = policies.inhibitsMapping
        verification.inhibitsAnyPolicy = policies.inhibitsAnyPolicy
        // A caller may pass any date; dates outside the years 5 to 9999 are clamped.
        let seconds = date.timeIntervalSince1970
        return try verification.run(at: seconds.isNaN ? 0 : Int(min(max(seconds, -62_000_000_000), 253_402_300_799)))
    }

    static let policyProblem =
        Problem(.chainPolicy, "the chain is valid under none of the required certificate policies")

    /// The problem for an error of libcrypto; nil for errors of time, which `PathCheck` reports.
    private static func problem(_ finding: ChainVerification.Finding, _ path: [Certificate]) -> Problem? {
        let name = path.indices.contains(finding.depth) ? "\(path[finding.depth].subject)" : "the chain"
        let reason = finding.code.text
        switch finding.code {
        case .expired, .notYetValid: return nil
        case .signatureFailure:
            return Problem(.chainSignature, "the signature on the certificate of \(name) is wrong")
        case .selfSignedLeaf, .selfSignedInChain,
            .noIssuer, .noLocalIssuer,
            .leafNotVerifiable:
            return Problem(.chainNoAnchor, "no trusted authority issued the certificate of \(name)")
        case .chainTooLong, .pathLengthExceeded:
            return Problem(.chainTooLong, "the chain is longer than \(name) allows")
        case .invalidCA, .invalidNonCA, .noCertificateSigning:
            return Problem(.chainNotCA, "\(name) issued a certificate, but its own certificate does not allow this")
        case .unknownCriticalExtension:
            return Problem(
                .chainUnknownCriticalExtension,
                "the certificate of \(name) has an unknown critical extension"
            )
        case .notPermitted, .excluded, .subtreeBounds,
            .unknownConstraintType, .unknownConstraintSyntax,
            .unknownNameSyntax:
            let constraints = "the name constraints of an authority in the chain"
            return Problem(.chainNameConstraints, "\(constraints) forbid \(name), or cannot be checked (\(reason))")
        case .noExplicitPolicy, .invalidPolicyExtension:
            return policyProblem
        default: return Problem(.chainInvalid, "\(name): \(reason)")
        }
    }
}
