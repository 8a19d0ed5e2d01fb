extension ProblemCode {
    /// A doubt about a valid signature, expressed as a warning.
    ///
    /// A program that reports a verdict in one word, such as a gateway, must not call a signature with such a doubt good.
    package enum Reservation: String, CaseIterable, Hashable, Sendable {
        /// Something that is displayed together with the signed content is not signed.
        case coverage
        /// It is doubtful who signed or wrote the content.
        case identity
        /// The content was possibly not signed as mail.
        case purpose
        /// The signature covers encrypted content, which the signer possibly does not know, or a layer that cannot be
        /// read.
        case outside = "signature-outside"
        /// A digest, key or algorithm is too weak to be convincing.
        case strength
    }

    /// The doubt about the signature that the problem expresses when it is a warning; nil if it expresses none. This is the
    /// only place that classifies codes in this way: add new codes here as well.
    package var reservation: Reservation? {
        switch self {
        case .contentIsAttributes, .contentMismatch, .encodedMultipart, .headerDiffers, .headerUnprotected,
            .hiddenFields, .missingHeaderEnd, .tooDeep, .tooManyLayers, .tooManySignatures, .unterminatedMultipart:
            .coverage
        case .addressMismatch, .certificateAddressMalformed, .certificateNoAddress, .chainDistrusted, .cosigner,
            .fromDisplayName, .fromDoubled, .fromGroup, .fromMalformed, .fromMissing, .fromRoute, .fromSeveral,
            .innerSigner, .protectedFromMismatch, .signerAmbiguous, .signerCertificateMismatch, .signerIsSender,
            .signerNotFrom:
            .identity
        case .attributesMissing, .contentNotData, .contentNotMail, .noMIMEHeader: .purpose
        case .encrypted, .innerSignature, .signatureOutside: .outside
        case .chainSHA1, .chainWeakSignature, .digestMD5, .digestMismatch, .digestSHA1, .signatureDSA, .weakKey:
            .strength
        case .accountUnused, .algorithmUnsupported, .attributeDoubled, .attributeUnsigned, .bareCR, .bareLF,
            .base64Padding, .blankBeforeColon, .byteOrderMark, .certificateExpired, .certificateNotYetValid,
            .certificateRevoked, .certificateUnreadable, .chainExpired, .chainInvalid, .chainNameConstraints,
            .chainNoAnchor, .chainNotCA, .chainNotChecked, .chainNotYetValid, .chainPolicy, .chainPurpose,
            .chainRevoked, .chainSignature, .chainTooLong, .chainUnknownCriticalExtension, .cmsLimit, .cmsMalformed,
            .contentChanged, .contentEmbedded, .contentNotOctets, .contentTypeAttribute,
            .contentTypeUnknown, .contradictoryBoundary, .crlExpired, .crlSignature, .crlUnreadable,
            .digestNotAnnounced, .duplicateContentType, .duplicateTransferEncoding, .endEntityIsCA, .keyUsage,
            .malformed, .malformedContentType, .mboxLine, .messageDigestAttribute, .missingBoundary, .noRecipients,
            .notLearned, .nulByte, .ocspUnusable, .pkcs12BadCertificate, .pkcs12BadCRL,
            .pkcs12KeyWithoutCertificate, .pkcs12NoMAC, .pkcs12TrailingBytes, .pkcs12Unsupported, .profileAlgorithm,
            .profileKeySize, .profilePurpose, .profileValidity, .revocationUnknown, .signatureInvalid,
            .signerCertificateMissing, .signingTimeFar, .signingTimeFuture, .signingTimeMalformed,
            .smimeTypeUnderstated, .trailingBytes, .unauthenticated, .weakCipher,
            .certificatesOnly, .decryptionFailed, .needsSecret, .notARecipient, .notEncrypted,
            .unreadable:
            nil
        }
    }
}
