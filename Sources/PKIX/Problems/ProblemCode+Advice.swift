extension ProblemCode {
    /// What to do about the problem: one sentence without a full stop that names no commands of a program.
    public var advice: String {
        switch self {
        case .accountUnused: "import the private key with its certificate, in one file or in one command"
        case .addressMismatch:
            "recipients will not accept signatures by this identity for the address; request a certificate that names the address"
        case .algorithmUnsupported, .digestMD5, .digestSHA1, .signatureDSA:
            "ask the sender to sign with SHA-256 or better"
        case .attributeDoubled, .cmsLimit, .cmsMalformed, .contentTypeAttribute, .contradictoryBoundary,
            .digestMismatch, .duplicateContentType, .duplicateTransferEncoding, .encodedMultipart, .fromDoubled,
            .fromGroup, .fromMalformed, .fromMissing, .fromRoute, .innerSignature, .malformed, .messageDigestAttribute,
            .missingBoundary,
            .noRecipients, .signerAmbiguous, .signingTimeMalformed, .tooManyLayers:
            "ask the sender to send the message again"
        case .attributeUnsigned, .certificateUnreadable, .contentEmbedded, .contentNotOctets,
            .contentTypeUnknown, .crlSignature, .ocspUnusable, .digestNotAnnounced, .mboxLine,
            .pkcs12BadCRL,
            .pkcs12TrailingBytes, .smimeTypeUnderstated, .tooDeep, .trailingBytes:
            "nothing has to be done"
        case .bareCR, .bareLF, .base64Padding, .blankBeforeColon, .byteOrderMark, .malformedContentType,
            .missingHeaderEnd, .nulByte,
            .unterminatedMultipart:
            "nothing, unless all mail has this problem: then a mail system on the way is at fault"
        case .certificateAddressMalformed, .certificateNoAddress, .chainInvalid, .chainNameConstraints, .chainNotCA,
            .chainNotChecked, .chainPolicy, .chainPurpose, .chainSHA1, .chainTooLong, .chainUnknownCriticalExtension,
            .chainWeakSignature, .endEntityIsCA, .keyUsage, .weakKey:
            "ask the owner of the certificate for a better certificate"
        case .certificatesOnly: "import the certificates in the message"
        case .decryptionFailed: "ask the sender to send the message again"
        case .needsSecret: "give the password or the secret key that the sender and you agreed on"
        case .notARecipient:
            "import the key that the message is encrypted for, or ask the sender to encrypt the message for your certificate"
        case .notEncrypted: "verify the message, if it is signed"
        case .unreadable: "see the text for what is wrong with the file or the store"
        case .crlUnreadable:
            "correct the list or the folder if it is your own; remove the unreadable list from the store"
        case .certificateExpired:
            "ask the owner for the new certificate; older mail can be judged at the time when it was signed"
        case .certificateNotYetValid, .chainNotYetValid: "wait, or check your clock"
        case .certificateRevoked: "do not rely on the certificate: ask its owner for a new certificate, but not by mail"
        case .chainDistrusted: "do not rely on the certificate, unless you distrusted it by mistake"
        case .chainExpired: "ask the sender for a certificate by a current authority"
        case .chainNoAnchor:
            "if you know the authority, make its certificate an anchor; if you compared fingerprints, pin the sender's certificate"
        case .chainRevoked:
            "do not rely on the certificate: ask its owner for a certificate by another authority, but not by mail"
        case .chainSignature: "do not rely on the certificate: it may be forged"
        case .contentChanged:
            "the content was changed on the way, on purpose or by a mail system; ask the sender to send the message again"
        case .contentIsAttributes: "do not rely on the message: the signer never signed this content as a message"
        case .contentNotData, .contentNotMail:
            "do not rely on the message: the signer signed this content for another purpose"
        case .attributesMissing, .noMIMEHeader: "if it matters, ask the sender whether the content was meant as mail"
        case .contentMismatch, .hiddenFields: "do not rely on the message: different programs show different content"
        case .cosigner: "nothing: the sender's own signature counts; the report names the other signers"
        case .crlExpired: "get the new list and import it"
        case .encrypted: "decrypt the message to see its signatures"
        case .fromDisplayName: "do not rely on the name: look at the address"
        case .fromSeveral: "ask the sender to send the message again, with one address in From"
        case .innerSigner: "the report names the signers"
        case .headerDiffers, .headerUnprotected:
            "rely only on the protected fields, which the author wrote and the report shows"
        case .signatureOutside: "ask the sender to sign first and then to encrypt"
        case .notLearned: "verify the message to see what is wrong with the signature"
        case .pkcs12BadCertificate, .pkcs12KeyWithoutCertificate, .pkcs12NoMAC, .pkcs12Unsupported:
            "export the PKCS#12 file again from the program that made it"
        case .profileAlgorithm, .profileKeySize, .profilePurpose, .profileValidity:
            "nothing; if the certificate is your own, ask its authority for the reason"
        case .protectedFromMismatch:
            "do not treat the address in From as the sender: another person may have forwarded the signed mail under a new name"
        case .revocationUnknown: "import the revocation list of the authority"
        case .signatureInvalid: "do not rely on the message: it was changed, or another person signed it"
        case .signerCertificateMismatch:
            "do not rely on the message: the certificate in the message is not the one that the signer named"
        case .signerCertificateMissing: "import the certificate"
        case .signerIsSender: "accept the message only if the address in Sender may send for the address in From"
        case .signerNotFrom: "do not treat the address in From as the sender"
        case .signingTimeFar:
            "check whether this is an old message that was sent again, or whether the sender's clock was wrong"
        case .signingTimeFuture: "check your clock; the signer's may be wrong"
        case .tooManySignatures: "save the parts to files and verify each part"
        case .unauthenticated, .weakCipher: "ask the sender to encrypt with AES-GCM (AuthEnvelopedData)"
        }
    }
}
