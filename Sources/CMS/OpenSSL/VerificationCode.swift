import COpenSSL

/// An error of libcrypto's verification of a chain. libcrypto: X509_STORE_CTX_get_error(3)
struct VerificationCode: RawRepresentable, Hashable, Sendable {
    let rawValue: CInt

    /// What it means, in libcrypto's words.
    ///
    /// libcrypto: `X509_verify_cert_error_string`
    var text: String { String(cString: X509_verify_cert_error_string(Int(rawValue))) }

    // Of certificates.
    static let expired = Self(rawValue: X509_V_ERR_CERT_HAS_EXPIRED)
    static let notYetValid = Self(rawValue: X509_V_ERR_CERT_NOT_YET_VALID)
    static let signatureFailure = Self(rawValue: X509_V_ERR_CERT_SIGNATURE_FAILURE)
    static let selfSignedLeaf = Self(rawValue: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
    static let selfSignedInChain = Self(rawValue: X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN)
    static let noIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT)
    static let noLocalIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
    static let leafNotVerifiable = Self(rawValue: X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE)
    static let chainTooLong = Self(rawValue: X509_V_ERR_CERT_CHAIN_TOO_LONG)
    static let pathLengthExceeded = Self(rawValue: X509_V_ERR_PATH_LENGTH_EXCEEDED)
    static let invalidCA = Self(rawValue: X509_V_ERR_INVALID_CA)
    static let invalidNonCA = Self(rawValue: X509_V_ERR_INVALID_NON_CA)
    static let noCertificateSigning = Self(rawValue: X509_V_ERR_KEYUSAGE_NO_CERTSIGN)
    static let unknownCriticalExtension = Self(rawValue: X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION)
    static let notPermitted = Self(rawValue: X509_V_ERR_PERMITTED_VIOLATION)
    static let excluded = Self(rawValue: X509_V_ERR_EXCLUDED_VIOLATION)
    static let subtreeBounds = Self(rawValue: X509_V_ERR_SUBTREE_MINMAX)
    static let unknownConstraintType = Self(rawValue: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE)
    static let unknownConstraintSyntax = Self(rawValue: X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX)
    static let unknownNameSyntax = Self(rawValue: X509_V_ERR_UNSUPPORTED_NAME_SYNTAX)
    static let noExplicitPolicy = Self(rawValue: X509_V_ERR_NO_EXPLICIT_POLICY)
    static let invalidPolicyExtension = Self(rawValue: X509_V_ERR_INVALID_POLICY_EXTENSION)

    // Of revocation lists.
    static let revoked = Self(rawValue: X509_V_ERR_CERT_REVOKED)
    static let listExpired = Self(rawValue: X509_V_ERR_CRL_HAS_EXPIRED)
    static let noList = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_CRL)
    static let listScope = Self(rawValue: X509_V_ERR_DIFFERENT_CRL_SCOPE)
    static let listNotYetValid = Self(rawValue: X509_V_ERR_CRL_NOT_YET_VALID)
    static let listSignatureFailure = Self(rawValue: X509_V_ERR_CRL_SIGNATURE_FAILURE)
    static let listPathInvalid = Self(rawValue: X509_V_ERR_CRL_PATH_VALIDATION_ERROR)
    static let noListIssuer = Self(rawValue: X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER)
    static let noListSigning = Self(rawValue: X509_V_ERR_KEYUSAGE_NO_CRL_SIGN)
    static let listUnknownCriticalExtension = Self(rawValue: X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION)
    static let listSignatureUnreadable = Self(rawValue: X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE)
    static let listThisUpdateUnreadable = Self(rawValue: X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD)
    static let listNextUpdateUnreadable = Self(rawValue: X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD)
}
