import COpenSSL

/// Verifies a chain with libcrypto and reports all errors (at most 200), not only the first error.
///
/// libcrypto: `X509_verify_cert`
package struct ChainVerification {
    /// An error that libcrypto found, and the index of the certificate in the chain. The first certificate has index 0.
    package struct Finding: Hashable {
        package let code: VerificationCode
        package let depth: Int
    }

    /// The certificates from the end entity to the trust anchor.
    package let chain: [Handle<X509>]
    /// Other certificates whose keys may have signed revocation lists.
    package var others: [Handle<X509>] = []
    /// Whether revocation is checked instead of policies. If true, a certificate that no list covers gets `.noList`.
    package var checksRevocation = false
    /// The revocation lists, which are used only if `checksRevocation` is true.
    package var lists: [Handle<X509_CRL>] = []
    /// The acceptable certificate policies, as dotted OIDs; if empty, any policy is acceptable. They have no effect if
    /// `checksRevocation` is true.
    package var policies: [String] = []
    /// The inputs initial-explicit-policy, initial-policy-mapping-inhibit and initial-any-policy-inhibit of RFC 5280 §6.1.1.
    package var (isPolicyExplicit, inhibitsMapping, inhibitsAnyPolicy) = (false, false, false)
    /// The maximum number of intermediate CA certificates in the chain.
    ///
    /// libcrypto: `X509_STORE_CTX_set_depth`
    package let maximumDepth: Int

    package init(_ chain: [Handle<X509>], maximumDepth: Int) { (self.chain, self.maximumDepth) = (chain, maximumDepth) }

    /// Verifies the chain.
    ///
    /// - Parameter time: the time for which certificates must be valid, in seconds since 1970.
    /// - Throws: `OpenSSLError` if the verification cannot be set up; errors in the chain are findings.
    package func run(at time: Int) throws(OpenSSLError) -> [Finding] {
        Libcrypto.start()
        guard let leaf = chain.first, let anchor = chain.last else { return [] }
        let store = try Owned<X509_STORE>(X509_STORE_new(), "X509_STORE_new")
        try withPointers(store, anchor.owned) { store, anchor throws(OpenSSLError) in
            try check(X509_STORE_add_cert(store, anchor), "X509_STORE_add_cert")
        }
        let between = try Owned<CertificateStack>(chain.dropFirst().dropLast() + others)
        let revoked = try Owned<CertificateListStack>(lists)
        let context = try Owned<X509_STORE_CTX>(X509_STORE_CTX_new(), "X509_STORE_CTX_new")
        defer { ERR_clear_error() }
        return try withPointers(store, leaf.owned) { store, leaf throws(OpenSSLError) in
            try withPointers(between, revoked) { between, revoked throws(OpenSSLError) in
                try context.withPointer { context throws(OpenSSLError) in
                    try check(X509_STORE_CTX_init(context, store, leaf, between), "X509_STORE_CTX_init")
                    if checksRevocation { X509_STORE_CTX_set0_crls(context, revoked) }
                    X509_STORE_CTX_set_flags(context, flags)
                    if !checksRevocation { try addPolicies(to: context) }
                    X509_STORE_CTX_set_time(context, 0, time_t(time))
                    X509_STORE_CTX_set_depth(context, CInt(clamping: maximumDepth))
                    return Self.collect(context)
                }
            }
        }
    }

    /// The policy anyPolicy, which accepts every policy. Without it, libcrypto rejects every path in which a certificate
    /// requires an explicit policy.
    private static let anyPolicy = "2.5.29.32.0"

    private func addPolicies(to context: OpaquePointer) throws(OpenSSLError) {
        for policy in policies.isEmpty ? [Self.anyPolicy] : policies {
            guard let object = OBJ_txt2obj(policy, 1) else { throw OpenSSLError("OBJ_txt2obj") }
            let result = X509_VERIFY_PARAM_add0_policy(X509_STORE_CTX_get0_param(context), object)
            if result <= 0 { ASN1_OBJECT_free(object) }
            try check(result, "X509_VERIFY_PARAM_add0_policy")
        }
    }

    private var flags: UInt {
        if checksRevocation {
            let lists = X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL | X509_V_FLAG_USE_DELTAS
            return UInt(X509_V_FLAG_PARTIAL_CHAIN | lists | X509_V_FLAG_EXTENDED_CRL_SUPPORT)
        }
        var flags = UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_POLICY_CHECK)
        if isPolicyExplicit { flags |= UInt(X509_V_FLAG_EXPLICIT_POLICY) }
        if inhibitsMapping { flags |= UInt(X509_V_FLAG_INHIBIT_MAP) }
        if inhibitsAnyPolicy { flags |= UInt(X509_V_FLAG_INHIBIT_ANY) }
        return flags
    }

    /// The errors that leave only one thing unknown: whether the signer of a revocation list is itself revoked.
    private static let leavesSignerUnknown: Set<VerificationCode> = [
        .noList, .listPathInvalid, .listScope, .listExpired, .listNotYetValid,
    ]

    /// Runs the verification to its end, even after errors, and returns the errors, at most 200.
    ///
    /// libcrypto verifies the signer of a revocation list in a separate context. Errors in that context are not findings
    /// about this chain: each error makes the list unusable, except those that leave only the signer's own revocation status
    /// unknown.
    private static func collect(_ context: OpaquePointer) -> [Finding] {
        var findings: [Finding] = []
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        withUnsafeMutablePointer(to: &findings) { findings in
            X509_STORE_CTX_set_ex_data(context, 0, findings)
            X509_STORE_CTX_set_verify_cb(context) { isFine, context in
                guard isFine == 0 else { return isFine }
                let code = VerificationCode(rawValue: X509_STORE_CTX_get_error(context))
                guard let data = X509_STORE_CTX_get_ex_data(context, 0) else {
                    return Self.leavesSignerUnknown.contains(code) ? 1 : 0
                }
                let finding = Finding(code: code, depth: Int(X509_STORE_CTX_get_error_depth(context)))
                let findings = data.assumingMemoryBound(to: [Finding].self)
                if findings.pointee.count < 200 { findings.pointee.append(finding) }
                return 1
            }
            if X509_verify_cert(context) <= 0, findings.pointee.isEmpty {
                let code = VerificationCode(rawValue: X509_STORE_CTX_get_error(context))
                findings.pointee.append(Finding(code: code, depth: 0))
            }
        }
        return findings
    }
}

/// An error code of libcrypto's chain verification.
///
/// libcrypto: `X509_STORE_CTX_get_error`
package struct VerificationCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: CInt

    package init(rawValue: CInt) { self.rawValue = rawValue }

    /// The meaning of the code in libcrypto's words.
    ///
    /// libcrypto: `X509_verify_cert_error_string`
    package var text: String { String(cString: X509_verify_cert_error_string(Int(rawValue))) }

    // Errors about certificates.
    package static let expired = Self(rawValue: X509_V_ERR_CERT_HAS_EXPIRED)
    package static let notYetValid = Self(rawValue: X509_V_ERR_CERT_NOT_YET_VALID)
    package static let signatureFailure = Self(rawValue: X509_V_ERR_CERT_SIGNATURE_FAILURE)
    package static let selfSignedLeaf = Self(rawValue: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
    package static let selfSignedInChain = Self(rawValue: X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN)
    package static let noIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT)
    package static let noLocalIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
    package static let leafNotVerifiable = Self(rawValue: X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE)
    package static let chainTooLong = Self(rawValue: X509_V_ERR_CERT_CHAIN_TOO_LONG)
    package static let pathLengthExceeded = Self(rawValue: X509_V_ERR_PATH_LENGTH_EXCEEDED)
    package static let invalidCA = Self(rawValue: X509_V_ERR_INVALID_CA)
    package static let invalidNonCA = Self(rawValue: X509_V_ERR_INVALID_NON_CA)
    package static let noCertificateSigning = Self(rawValue: X509_V_ERR_KEYUSAGE_NO_CERTSIGN)
    package static let unknownCriticalExtension = Self(rawValue: X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION)
    package static let notPermitted = Self(rawValue: X509_V_ERR_PERMITTED_VIOLATION)
    package static let excluded = Self(rawValue: X509_V_ERR_EXCLUDED_VIOLATION)
    package static let subtreeBounds = Self(rawValue: X509_V_ERR_SUBTREE_MINMAX)
    package static let unknownConstraintType = Self(rawValue: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE)
    package static let unknownConstraintSyntax = Self(rawValue: X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX)
    package static let unknownNameSyntax = Self(rawValue: X509_V_ERR_UNSUPPORTED_NAME_SYNTAX)
    package static let noExplicitPolicy = Self(rawValue: X509_V_ERR_NO_EXPLICIT_POLICY)
    package static let invalidPolicyExtension = Self(rawValue: X509_V_ERR_INVALID_POLICY_EXTENSION)

    // Errors about revocation lists.
    package static let revoked = Self(rawValue: X509_V_ERR_CERT_REVOKED)
    package static let listExpired = Self(rawValue: X509_V_ERR_CRL_HAS_EXPIRED)
    package static let noList = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_CRL)
    package static let listScope = Self(rawValue: X509_V_ERR_DIFFERENT_CRL_SCOPE)
    package static let listNotYetValid = Self(rawValue: X509_V_ERR_CRL_NOT_YET_VALID)
    package static let listSignatureFailure = Self(rawValue: X509_V_ERR_CRL_SIGNATURE_FAILURE)
    package static let listPathInvalid = Self(rawValue: X509_V_ERR_CRL_PATH_VALIDATION_ERROR)
    package static let noListIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER)
    package static let noListSigning = Self(rawValue: X509_V_ERR_KEYUSAGE_NO_CRL_SIGN)
    package static let listUnknownCriticalExtension = Self(rawValue: X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION)
    package static let listSignatureUnreadable = Self(rawValue: X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE)
    package static let listThisUpdateUnreadable = Self(rawValue: X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD)
    package static let listNextUpdateUnreadable = Self(rawValue: X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD)
}
