extension ProblemCode {
    /// What to do about the problem: one sentence without a full stop that names no commands of a program.
    public var advice: String {
        switch self {
        case .accountUnused: "import the private key with its certificate, in one file or in one command"
        case .addressMismatch:
            "recipients will not accept its signatures for that address; request a certificate that names it"
        case .algorithmUnsupported, .digestMD5, .digestSHA1, .signatureDSA:
            "ask the sender to sign with SHA-256 or better"
        case .attributeDoubled, .cmsLimit, .cmsMalformed, .contentTypeAttribute, .contradictoryBoundary,
            .digestMismatch, .duplicateContentType, .duplicateTransferEncoding, .encodedMultipart, .fromDoubled,
            .fromGroup, .fromMalformed, .fromMissing, .fromRoute, .innerSignature, .malformed, .messageDigestAttribute,
            .missingBoundary,
            .noRecipients, .signerAmbiguous, .signingTimeMalformed, .tooManyLayers:
            "ask the sender to send it again"
        case .attributeUnsigned, .certificateUnreadable, .contentEmbedded, .contentNotData, .contentNotOctets,
            .contentTypeUnknown, .crlSignature, .ocspUnusable, .digestNotAnnounced, .mboxLine,
            .noMIMEHeader, .pkcs12BadCRL,
            .pkcs12TrailingBytes, .smimeTypeUnderstated, .tooDeep, .trailingBytes:
            "nothing has to be done"
        case .bareCR, .bareLF, .base64Padding, .blankBeforeColon, .byteOrderMark, .malformedContentType,
            .missingHeaderEnd, .nulByte,
            .unterminatedMultipart:
            "nothing, unless all mail has it: then a mail system on the way is at fault"
        case .certificateAddressMalformed, .certificateNoAddress, .chainInvalid, .chainNameConstraints, .chainNotCA,
            .chainNotChecked, .chainPolicy, .chainPurpose, .chainSHA1, .chainTooLong, .chainUnknownCriticalExtension,
            .chainWeakSignature, .endEntityIsCA, .keyUsage, .weakKey:
            "ask the owner of the certificate for a better one"
        case .certificatesOnly: "import its certificates"
        case .decryptionFailed: "ask the sender to send it again"
        case .needsSecret: "give the password or the secret key that the sender and you agreed on"
        case .notARecipient: "import the key it is for, or ask the sender to encrypt it for your certificate"
        case .notEncrypted: "verify it, if it is signed"
        case .unreadable: "see the text for what is wrong with the file or the store"
        case .crlUnreadable:
            "correct the list or the folder if it is your own; remove a list of the store that cannot be read"
        case .certificateExpired:
            "ask its owner for the new one; what was signed before can be judged at the time it was signed"
        case .certificateNotYetValid, .chainNotYetValid: "wait, or check your clock"
        case .certificateRevoked: "do not rely on it: ask its owner for a new one, but not by mail"
        case .chainDistrusted: "do not rely on it, unless you distrusted it by mistake"
        case .chainExpired: "ask the sender for a certificate by a current authority"
        case .chainNoAnchor:
            "if you know the authority, make it an anchor; if you compared fingerprints, pin the certificate"
        case .chainRevoked: "do not rely on it: ask its owner for a certificate by another authority, but not by mail"
        case .chainSignature: "do not rely on it: it may be forged"
        case .contentChanged:
            "it was changed on the way, on purpose or by a mail system; ask the sender to send it again"
        case .contentIsAttributes: "do not rely on it: the signer never signed this as a message"
        case .contentMismatch, .hiddenFields: "do not rely on it: different programs show different things"
        case .cosigner: "nothing: the sender's own signature counts; the signers in the report say who else signed"
        case .crlExpired: "get the new list and import it"
        case .encrypted: "decrypt it to see"
        case .fromDisplayName: "do not rely on it: look at the address itself, not at the name"
        case .fromSeveral: "ask the sender to send it again, from one of them"
        case .innerSigner: "the signers in the report say who it was"
        case .headerDiffers, .headerUnprotected: "read the fields in the report: they are the author's"
        case .signatureOutside: "ask the sender to sign first and then to encrypt"
        case .notLearned: "verify it to see what is wrong with it"
        case .pkcs12BadCertificate, .pkcs12KeyWithoutCertificate, .pkcs12NoMAC, .pkcs12Unsupported:
            "export it again from the program that made it"
        case .profileAlgorithm, .profileKeySize, .profilePurpose, .profileValidity:
            "nothing, unless it is your own: then ask its authority why"
        case .protectedFromMismatch:
            "do not take From for the sender: another person may have forwarded the signed mail under a new name"
        case .revocationUnknown: "import its authority's list"
        case .signatureInvalid: "do not rely on it: it was changed, or another person signed"
        case .signerCertificateMismatch: "do not rely on it: the certificate was exchanged"
        case .signerCertificateMissing: "import it"
        case .signerIsSender: "accept it only if the address in Sender may send for the one in From"
        case .signerNotFrom: "do not take From for the sender"
        case .signingTimeFar: "check whether it is an old message that was sent again"
        case .signingTimeFuture: "check your clock; the signer's may be wrong"
        case .tooManySignatures: "take the message apart and verify the parts"
        case .unauthenticated: "ask the sender to encrypt with AES-GCM (AuthEnvelopedData)"
        }
    }
}
