/// A defect or doubt about a certificate, a file or a message.
///
/// The codes are stable: programs may test them. The text is for users and may change.
public struct Problem: Hashable, Sendable {
    /// The effect of a problem on the verdict.
    @nonexhaustive
    public enum Level: String, Hashable, Sendable {
        /// An error. The check that the problem concerns has failed, such as that of trust, validity or revocation.
        case error
        /// A warning. The problem is reported, but no check fails because of it. A weakness (`ProblemCode.isWeakness`) can
        /// still affect the verdict on a message.
        case warning
    }

    /// The code of the problem.
    public let kind: ProblemCode
    /// The severity.
    public let level: Level
    /// One sentence without a full stop, safe to print.
    public let text: String

    /// A problem with the level of its code.
    public init(_ kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = kind.level
        self.text = text
    }

    /// A problem that is only a warning in this case, even if the level of its code is higher.
    public init(warning kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = .warning
        self.text = text
    }

    /// The problem's code in kebab-case, such as `chain-no-anchor`.
    public var code: String { kind.rawValue }
}

extension Problem: CustomStringConvertible {
    public var description: String { "\(code): \(text)" }
}

/// The code of a problem in a report.
///
/// A code is stable: it keeps its name and meaning, and programs may test it. Every problem has a code, and every code has a
/// `meaning` and an `advice`.
@nonexhaustive
public enum ProblemCode: String, CaseIterable, Hashable, Sendable {
    case accountUnused = "account-unused"
    case addressMismatch = "address-mismatch"
    case algorithmUnsupported = "algorithm-unsupported"
    case attributeDoubled = "attribute-doubled"
    case attributeUnsigned = "attribute-unsigned"
    case attributesMissing = "attributes-missing"
    case bareCR = "bare-cr"
    case bareLF = "bare-lf"
    case base64Padding = "base64-padding"
    case blankBeforeColon = "blank-before-colon"
    case byteOrderMark = "byte-order-mark"
    case certificateAddressMalformed = "certificate-address-malformed"
    case certificateExpired = "certificate-expired"
    case certificateNoAddress = "certificate-no-address"
    case certificateNotYetValid = "certificate-not-yet-valid"
    case certificateRevoked = "certificate-revoked"
    case certificateUnreadable = "certificate-unreadable"
    case certificatesOnly = "certificates-only"
    case chainDistrusted = "chain-distrusted"
    case chainExpired = "chain-expired"
    case chainInvalid = "chain-invalid"
    case chainNameConstraints = "chain-name-constraints"
    case chainNoAnchor = "chain-no-anchor"
    case chainNotCA = "chain-not-ca"
    case chainNotChecked = "chain-not-checked"
    case chainNotYetValid = "chain-not-yet-valid"
    case chainPolicy = "chain-policy"
    case chainPurpose = "chain-purpose"
    case chainRevoked = "chain-revoked"
    case chainSHA1 = "chain-sha1"
    case chainSignature = "chain-signature"
    case chainTooLong = "chain-too-long"
    case chainUnknownCriticalExtension = "chain-unknown-critical-extension"
    case chainWeakSignature = "chain-weak-signature"
    case cmsLimit = "cms-limit"
    case cmsMalformed = "cms-malformed"
    case contentChanged = "content-changed"
    case contentEmbedded = "content-embedded"
    case contentIsAttributes = "content-is-attributes"
    case contentMismatch = "content-mismatch"
    case contentNotData = "content-not-data"
    case contentNotMail = "content-not-mail"
    case contentNotOctets = "content-not-octets"
    case contentTypeAttribute = "content-type-attribute"
    case contentTypeUnknown = "content-type-unknown"
    case contradictoryBoundary = "contradictory-boundary"
    case cosigner
    case crlExpired = "crl-expired"
    case crlSignature = "crl-signature"
    case crlUnreadable = "crl-unreadable"
    case decryptionFailed = "decryption-failed"
    case digestMD5 = "digest-md5"
    case digestMismatch = "digest-mismatch"
    case digestNotAnnounced = "digest-not-announced"
    case digestSHA1 = "digest-sha1"
    case duplicateContentType = "duplicate-content-type"
    case duplicateTransferEncoding = "duplicate-transfer-encoding"
    case encodedMultipart = "encoded-multipart"
    case encrypted
    case endEntityIsCA = "end-entity-is-ca"
    case fromDisplayName = "from-display-name"
    case fromDoubled = "from-doubled"
    case fromGroup = "from-group"
    case fromMalformed = "from-malformed"
    case fromMissing = "from-missing"
    case fromRoute = "from-route"
    case fromSeveral = "from-several"
    case headerDiffers = "header-differs"
    case headerUnprotected = "header-unprotected"
    case hiddenFields = "hidden-fields"
    case innerSignature = "inner-signature"
    case innerSigner = "inner-signer"
    case keyUsage = "key-usage"
    case malformed
    case malformedContentType = "malformed-content-type"
    case mboxLine = "mbox-line"
    case messageDigestAttribute = "message-digest-attribute"
    case missingBoundary = "missing-boundary"
    case missingHeaderEnd = "missing-header-end"
    case needsSecret = "needs-secret"
    case noMIMEHeader = "no-mime-header"
    case noRecipients = "no-recipients"
    case notARecipient = "not-a-recipient"
    case notEncrypted = "not-encrypted"
    case notLearned = "not-learned"
    case nulByte = "nul-byte"
    case ocspUnusable = "ocsp-unusable"
    case pkcs12BadCertificate = "pkcs12-bad-certificate"
    case pkcs12BadCRL = "pkcs12-bad-crl"
    case pkcs12KeyWithoutCertificate = "pkcs12-key-without-certificate"
    case pkcs12NoMAC = "pkcs12-no-mac"
    case pkcs12TrailingBytes = "pkcs12-trailing-bytes"
    case pkcs12Unsupported = "pkcs12-unsupported"
    case profileAlgorithm = "profile-algorithm"
    case profileKeySize = "profile-key-size"
    case profilePurpose = "profile-purpose"
    case profileValidity = "profile-validity"
    case protectedFromMismatch = "protected-from-mismatch"
    case revocationUnknown = "revocation-unknown"
    case signatureDSA = "signature-dsa"
    case signatureInvalid = "signature-invalid"
    case signatureOutside = "signature-outside"
    case signerAmbiguous = "signer-ambiguous"
    case signerCertificateMismatch = "signer-certificate-mismatch"
    case signerCertificateMissing = "signer-certificate-missing"
    case signerIsSender = "signer-is-sender"
    case signerNotFrom = "signer-not-from"
    case signingTimeFar = "signing-time-far"
    case signingTimeFuture = "signing-time-future"
    case signingTimeMalformed = "signing-time-malformed"
    case smimeTypeUnderstated = "smime-type-understated"
    case tooDeep = "too-deep"
    case tooManyLayers = "too-many-layers"
    case tooManySignatures = "too-many-signatures"
    case trailingBytes = "trailing-bytes"
    case unauthenticated
    case unreadable
    case unterminatedMultipart = "unterminated-multipart"
    case weakCipher = "weak-cipher"
    case weakKey = "weak-key"

    /// The usual effect of the problem on the verdict. An error is reported as a warning where it does no harm: for example, if
    /// an expired certificate is imported for old mail.
    public var level: Problem.Level {
        switch self {
        case .accountUnused, .addressMismatch, .attributeUnsigned, .attributesMissing, .bareCR, .bareLF, .base64Padding,
            .blankBeforeColon,
            .byteOrderMark, .certificateUnreadable, .contentEmbedded, .contentNotOctets,
            .contentTypeUnknown, .cosigner, .crlExpired, .crlSignature, .crlUnreadable, .digestNotAnnounced,
            .encrypted, .headerDiffers, .headerUnprotected,
            .innerSigner, .malformedContentType, .mboxLine,
            .missingHeaderEnd, .noMIMEHeader, .notLearned, .ocspUnusable, .nulByte, .pkcs12BadCertificate,
            .pkcs12BadCRL,
            .pkcs12KeyWithoutCertificate, .pkcs12NoMAC, .pkcs12TrailingBytes, .pkcs12Unsupported, .profileAlgorithm,
            .profileKeySize, .profilePurpose, .profileValidity, .signatureDSA, .signatureOutside,
            .signingTimeFar, .signingTimeFuture, .smimeTypeUnderstated, .tooDeep, .tooManySignatures, .trailingBytes,
            .unauthenticated,
            .unterminatedMultipart, .weakCipher:
            .warning
        default: .error
        }
    }
}

extension ProblemCode {
    /// The levels at which the report on a message may show the problem: the level of the code, and `warning` if the report can
    /// accept the problem. (An import shows every problem as a warning.)
    package var levels: [Problem.Level] {
        switch self {
        case .contentNotData, .endEntityIsCA, .innerSignature, .revocationUnknown, .signerIsSender: [.error, .warning]
        default: isWeakness ? [.error, .warning] : [level]
        }
    }

    /// Whether the problem is only that an algorithm or a key is no longer strong enough.
    ///
    /// In the verdict on a single certificate or signature, this problem is a warning, unless a single computer can break the
    /// key. The report on the message decides whether the problem affects the overall verdict.
    public var isWeakness: Bool { [.chainSHA1, .digestSHA1, .weakKey].contains(self) }
}

extension ProblemCode: CustomStringConvertible {
    public var description: String { rawValue }
}
