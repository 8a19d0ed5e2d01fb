import COpenSSL
import Foundation

/// libcrypto's verdict over a path, each of its errors kept instead of the first alone.
///
/// libcrypto: `X509_verify_cert`
struct PathVerification {
    private(set) var problems: [Problem] = []

    /// An error of libcrypto's and the place of the certificate it is about, the leaf being 0.
    struct Finding: Hashable {
        let code: CInt
        let depth: Int
    }

    /// - Parameter effort: what it may cost.
    init(_ path: CertificatePath, at date: Date, policies: CertificatePolicies, effort: PathEffort) {
        if let malformed = path.certificates.first(where: \.hasMalformedExtension) {
            // libcrypto would only say that it found no issuer.
            let text = "an extension of the certificate of \(malformed.subject) is malformed"
            problems.append(Problem(.chainInvalid, text))
            return
        }
        let burden = PathBurden(path.certificates)
        if let excess = burden.excess {
            let most = Certificate.maximumNames
            let text = "\(excess.subject) has more than \(most) names, name constraints and distribution points"
            problems.append(Problem(.chainNotChecked, text))
            return
        }
        guard effort.affords(burden.units) else {
            let text = "the names and name constraints in the chain take too long to compare"
            problems.append(Problem(.chainNotChecked, text))
            return
        }
        do {
            var findings = try Self.verify(path.certificates, at: date, policies: policies)
            switch MailConstraints.judge(path.certificates) {
            case .nothing: break
            case .allAllowed: findings.removeAll { $0.depth == 0 && $0.code == X509_V_ERR_PERMITTED_VIOLATION }
            case .violation(let address):
                problems.append(Problem(.chainNameConstraints, "an authority may not name \(address)"))
            }
            problems += findings.compactMap { Self.problem($0, path.certificates) }
        } catch {
            problems.append(Problem(.chainNotChecked, "libcrypto cannot check the chain (\(error))"))
        }
    }

    /// What libcrypto finds along `path`, whose last certificate it takes for an anchor.
    ///
    /// - Parameters:
    ///   - lists: revocation lists; with none of them revocation is not looked at.
    ///   - others: certificates that lists may be signed with, not in the path.
    static func verify(
        _ path: [Certificate],
        at date: Date,
        policies: CertificatePolicies = CertificatePolicies(),
        lists: [CertificateList] = [],
        others: [Certificate] = []
    ) throws(OpenSSLError) -> [Finding] {
        Libcrypto.start()
        let objects = try path.map { certificate throws(OpenSSLError) in try certificate.x509() }
        guard let leaf = objects.first, let anchor = objects.last else { return [] }
        let store = try Owned<X509_STORE>(X509_STORE_new(), "X509_STORE_new")
        try withPointers(store, anchor.owned) { store, anchor throws(OpenSSLError) in
            try check(X509_STORE_add_cert(store, anchor), "X509_STORE_add_cert")
        }
        let helpers = others.compactMap { try? $0.x509() }
        let between = try Owned<CertificateStack>(objects.dropFirst().dropLast() + helpers)
        let revoked = try Owned<CertificateListStack>(lists)
        let context = try Owned<X509_STORE_CTX>(X509_STORE_CTX_new(), "X509_STORE_CTX_new")
        defer { ERR_clear_error() }
        return try withPointers(store, leaf.owned) { store, leaf throws(OpenSSLError) in
            try withPointers(between, revoked) { between, revoked throws(OpenSSLError) in
                try context.withPointer { context throws(OpenSSLError) in
                    try check(X509_STORE_CTX_init(context, store, leaf, between), "X509_STORE_CTX_init")
                    if !lists.isEmpty { X509_STORE_CTX_set0_crls(context, revoked) }
                    X509_STORE_CTX_set_flags(context, flags(policies, hasLists: !lists.isEmpty))
                    for policy in policies.acceptable.isEmpty ? [Self.anyPolicy] : policies.acceptable {
                        guard let object = OBJ_txt2obj(policy, 1) else { throw OpenSSLError("OBJ_txt2obj") }
                        let result = X509_VERIFY_PARAM_add0_policy(X509_STORE_CTX_get0_param(context), object)
                        if result <= 0 { ASN1_OBJECT_free(object) }
                        try check(result, "X509_VERIFY_PARAM_add0_policy")
                    }
                    X509_STORE_CTX_set_time(context, 0, time_t(date.timeIntervalSince1970))
                    X509_STORE_CTX_set_depth(context, CInt(PathFinder.maximumDepth))
                    return collect(context)
                }
            }
        }
    }

    /// What stands for no demand: without it libcrypto finds no policy good enough where an authority requires one.
    private static let anyPolicy = "2.5.29.32.0"

    private static func flags(_ policies: CertificatePolicies, hasLists: Bool) -> UInt {
        var flags = UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_POLICY_CHECK)
        if policies.isExplicit { flags |= UInt(X509_V_FLAG_EXPLICIT_POLICY) }
        if policies.inhibitsMapping { flags |= UInt(X509_V_FLAG_INHIBIT_MAP) }
        if policies.inhibitsAnyPolicy { flags |= UInt(X509_V_FLAG_INHIBIT_ANY) }
        guard hasLists else { return flags }
        flags |= UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        return flags | UInt(X509_V_FLAG_EXTENDED_CRL_SUPPORT | X509_V_FLAG_USE_DELTAS)
    }

    /// Runs the verification past its errors and returns them.
    ///
    /// Who signed a revocation list is verified in a context of its own, to which the findings do not belong: there an
    /// error is an error, but that nothing says whether the signer was revoked.
    private static func collect(_ context: OpaquePointer) -> [Finding] {
        var findings: [Finding] = []
        withUnsafeMutablePointer(to: &findings) { findings in
            X509_STORE_CTX_set_ex_data(context, 0, findings)
            X509_STORE_CTX_set_verify_cb(context) { isFine, context in
                guard isFine == 0 else { return isFine }
                guard let data = X509_STORE_CTX_get_ex_data(context, 0) else {
                    let unknown = [X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_CRL_PATH_VALIDATION_ERROR]
                    return unknown.contains(X509_STORE_CTX_get_error(context)) ? 1 : 0
                }
                let finding = Finding(
                    code: X509_STORE_CTX_get_error(context),
                    depth: Int(X509_STORE_CTX_get_error_depth(context))
                )
                let findings = data.assumingMemoryBound(to: [Finding].self)
                if findings.pointee.count < 200 { findings.pointee.append(finding) }
                return 1
            }
            if X509_verify_cert(context) <= 0, findings.pointee.isEmpty {
                findings.pointee.append(Finding(code: X509_STORE_CTX_get_error(context), depth: 0))
            }
        }
        return findings
    }

    /// The problem that an error stands for; nil for what is judged elsewhere: time, and where the path ends.
    private static func problem(_ finding: Finding, _ path: [Certificate]) -> Problem? {
        let name = path.indices.contains(finding.depth) ? "\(path[finding.depth].subject)" : "the chain"
        let reason = String(cString: X509_verify_cert_error_string(Int(finding.code)))
        switch finding.code {
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: return nil
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return Problem(.chainSignature, "the signature on the certificate of \(name) is wrong")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return Problem(.chainNoAnchor, "no trusted authority issued the certificate of \(name)")
        case X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATH_LENGTH_EXCEEDED:
            return Problem(.chainTooLong, "the chain is longer than \(name) allows")
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            return Problem(.chainNotCA, "\(name) issued a certificate but is no authority")
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            return Problem(
                .chainUnknownCriticalExtension,
                "\(name) has a critical extension that nobody knows"
            )
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            return Problem(.chainNameConstraints, "an authority may not name \(name) (\(reason))")
        case X509_V_ERR_NO_EXPLICIT_POLICY, X509_V_ERR_INVALID_POLICY_EXTENSION:
            return Problem(.chainPolicy, "the chain is valid under none of the certificate policies that are asked for")
        default: return Problem(.chainInvalid, "\(name): \(reason)")
        }
    }
}
