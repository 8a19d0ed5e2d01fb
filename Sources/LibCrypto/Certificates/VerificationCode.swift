import COpenSSL

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
