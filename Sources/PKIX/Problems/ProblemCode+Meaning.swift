extension ProblemCode {
    /// The problem in one sentence without a full stop.
    public var meaning: String {
        switch self {
        case .accountUnused: "an account was named, but the files contain no private key for it"
        case .addressMismatch: "the certificate of an identity does not name the account's address"
        case .algorithmUnsupported:
            "a signature, its digest, an encryption or a compression uses an algorithm that is not supported"
        case .attributeDoubled: "a signed attribute that must have exactly one value occurs twice or has several values"
        case .attributeUnsigned: "an attribute that must be signed is unsigned, and is ignored"
        case .attributesMissing: "the signature has no signed attributes, so that it was possibly not made for mail"
        case .bareCR: "a carriage return has no line feed after it"
        case .bareLF: "some lines end in a line feed only, and others in carriage return and line feed"
        case .base64Padding: "the base64 of a CMS object lacks its padding"
        case .blankBeforeColon: "a field has a blank between its name and the colon"
        case .byteOrderMark: "the header begins with a byte order mark"
        case .certificateAddressMalformed:
            "an address in the certificate has no domain or is malformed otherwise, or an address or the name has control characters"
        case .certificateExpired: "the certificate has expired"
        case .certificateNoAddress:
            "the certificate names no address in subjectAltName or emailAddress"
        case .certificateNotYetValid: "the certificate is not valid yet"
        case .certificateRevoked: "the certificate was revoked by its issuer"
        case .certificateUnreadable: "an accompanying certificate cannot be read, and is ignored"
        case .chainDistrusted:
            "you distrusted the certificate, or another certificate with the same key, for the sender's address"
        case .chainExpired: "a certificate of an authority in the chain has expired"
        case .chainInvalid:
            "libcrypto rejects the chain for a reason without a code of its own; the text names the reason"
        case .chainNameConstraints: "the name constraints of an authority in the chain forbid this address or name"
        case .chainNoAnchor: "the chain does not end at a certificate that is trusted"
        case .chainNotCA:
            "a certificate in the chain was issued by a certificate that does not allow this (CA:TRUE and keyCertSign)"
        case .chainNotChecked: "the chain cannot be checked, or it would take too long; the text says why"
        case .chainNotYetValid: "a certificate of an authority in the chain is not valid yet"
        case .chainPolicy:
            "none of the certificate policies that you or the chain's authorities require is valid for the chain"
        case .chainPurpose: "the certificate, or an authority above it, is not meant for mail (extended key usage)"
        case .chainRevoked: "the certificate of an authority in the chain was revoked"
        case .chainSHA1: "a certificate in the chain is signed with SHA-1, which is no longer safe"
        case .chainSignature: "a certificate in the chain is not signed by its issuer"
        case .chainTooLong: "the chain is longer than one of its authorities allows"
        case .chainUnknownCriticalExtension: "a certificate in the chain has an unknown critical extension"
        case .chainWeakSignature: "a certificate in the chain is signed with MD5 or MD2, which can be forged"
        case .cmsLimit: "the CMS object exceeds a limit, and is not read further"
        case .cmsMalformed: "the CMS object violates RFC 5652"
        case .contentChanged: "the content is not what was signed: its digest differs"
        case .contentEmbedded: "a detached signature also contains the content, unchanged"
        case .contentIsAttributes: "the signed content consists of the signed attributes of another signature"
        case .contentMismatch: "the content inside a detached signature differs from the content beside it"
        case .contentNotData:
            "the signed content does not have the type that mail must have (RFC 8551 §2.4.1); only a warning in a bare CMS object"
        case .contentNotMail:
            "what is signed is not mail, but a git object or content that was signed for another purpose"
        case .contentNotOctets: "the content of the CMS object is in the obsolete PKCS #7 form, without an OCTET STRING"
        case .contentTypeAttribute: "the signed content type is missing, repeated, or different from the content's"
        case .contentTypeUnknown: "the CMS object has an unknown type"
        case .contradictoryBoundary:
            "other programs may divide the message into other parts: a boundary is ambiguous or in a wrong place, or a signature's header is irregular"
        case .cosigner: "another person signed the message in addition to the sender"
        case .crlExpired: "a revocation list is out of date: its nextUpdate has passed"
        case .crlSignature: "a revocation list is not signed by the authority that it names, and is ignored"
        case .crlUnreadable:
            "a revocation list or the folder of lists in the settings cannot be read, and is skipped"
        case .certificatesOnly: "the message contains only certificates"
        case .decryptionFailed: "the message was changed or cut off, or is not encrypted with the key that it names"
        case .needsSecret: "the message is encrypted with a password or a secret key that was not given"
        case .notARecipient: "the message is encrypted for none of your certificates"
        case .notEncrypted: "the message is not encrypted"
        case .unreadable: "the file, the store or its settings cannot be read, so nothing is known of the message"
        case .digestMD5: "the signature uses MD5, which can be forged"
        case .digestMismatch: "the signature algorithm and the digest algorithm of the signature name different digests"
        case .digestNotAnnounced: "the signer's digest algorithm is missing from digestAlgorithms of the SignedData"
        case .digestSHA1: "the signature uses SHA-1, which is no longer safe"
        case .duplicateContentType:
            "a part has more than one Content-Type field, so mail programs may show different content"
        case .duplicateTransferEncoding: "a part has more than one Content-Transfer-Encoding field"
        case .encodedMultipart: "a multipart has a transfer encoding, which RFC 2045 forbids"
        case .encrypted: "the encrypted content may be signed"
        case .endEntityIsCA: "the certificate is a CA certificate, not a person's"
        case .fromDisplayName: "a name in From shows an address that is not the sender's"
        case .fromDoubled: "there is more than one From field"
        case .fromGroup: "From is a group, which cannot be a sender"
        case .fromMalformed: "From contains text that is not an address, or that mail programs understand differently"
        case .fromMissing: "From is missing or holds no address, so it cannot be compared with the signer"
        case .fromRoute: "From contains a source route, which mail programs understand differently"
        case .fromSeveral: "From holds several mailboxes, but a signature is by one person"
        case .headerDiffers:
            "outer header fields differ from the protected fields, which the author wrote"
        case .headerUnprotected: "some header fields are unprotected, and could have been added on the way"
        case .hiddenFields:
            "mail programs disagree on where the header ends, or on the sender, recipients or content type"
        case .innerSignature:
            "an inner signature is not valid; if a layer inside the signature cannot be read, this is only a warning"
        case .innerSigner: "an inner signature is not by the sender"
        case .keyUsage: "the key usage of the certificate does not allow this use of the key"
        case .malformed: "the message is malformed; the text says where"
        case .malformedContentType:
            "a Content-Type field cannot be read by all mail programs; an unreadable field is treated as plain text"
        case .mboxLine: "the header begins with the From line of an mbox file"
        case .messageDigestAttribute: "the signed message digest is missing or repeated"
        case .missingBoundary: "a multipart has no usable boundary"
        case .missingHeaderEnd: "the header ends at a line that is not a field, without an empty line"
        case .noMIMEHeader:
            "the encrypted or signed content has no MIME header, so that it was possibly not made as mail"
        case .noRecipients: "the encrypted object has no recipients"
        case .notLearned:
            "no certificate is learned, because the mail has no signature that is valid, trusted and by the sender"
        case .nulByte: "the header or the signed text contains a NUL byte"
        case .ocspUnusable:
            "an OCSP response is not current, not about the chain, by an unauthorized responder, or one of too many, and is ignored"
        case .pkcs12BadCertificate: "a certificate in the PKCS#12 file cannot be read, and is ignored"
        case .pkcs12BadCRL: "a revocation list in the PKCS#12 file cannot be read, and is ignored"
        case .pkcs12KeyWithoutCertificate:
            "a private key in the PKCS#12 file belongs to no certificate in the file, and is ignored"
        case .pkcs12NoMAC: "the PKCS#12 file has no MAC: nothing shows whether it was changed"
        case .pkcs12TrailingBytes: "bytes follow the PKCS#12 structure, and are ignored"
        case .pkcs12Unsupported: "a part of the PKCS#12 file is of an unsupported kind, and is ignored"
        case .profileAlgorithm:
            "a key or signature is of a kind that the CA/Browser Forum's S/MIME Baseline Requirements do not allow"
        case .profileKeySize:
            "an RSA key is of a size that the CA/Browser Forum's S/MIME Baseline Requirements do not allow"
        case .profilePurpose:
            "the purposes of the certificate are not those of the CA/Browser Forum's S/MIME Baseline Requirements"
        case .profileValidity:
            "the certificate is valid for longer than the CA/Browser Forum's S/MIME Baseline Requirements allow"
        case .protectedFromMismatch: "the From field inside the signature does not name the signer"
        case .revocationUnknown:
            "no list or OCSP response says whether a certificate of the chain was revoked; with soft revocation, usually only a warning"
        case .signatureDSA: "the signature was made with DSA, which is no longer used"
        case .signatureInvalid: "the signature does not match the signer's key, or cannot be checked"
        case .signatureOutside:
            "only the encrypted object is signed, not its content, so the signer possibly does not know the content"
        case .signerAmbiguous: "too many certificates could be the signer's, and not all were tried"
        case .signerCertificateMismatch: "the signature names a different certificate from the one in the message"
        case .signerCertificateMissing: "the signer's certificate is not included and not known"
        case .signerIsSender: "the signer is the person in Sender, not the person in From"
        case .signerNotFrom:
            "the address in From is not in the certificate: another person signed, or From was changed on the way"
        case .signingTimeFar:
            "the signing time is more than a day away from the Date field, or before the certificate was valid"
        case .signingTimeFuture: "the signing time lies in the future"
        case .signingTimeMalformed: "the signing time cannot be read"
        case .smimeTypeUnderstated: "smime-type names EnvelopedData, but the object is AuthEnvelopedData"
        case .tooDeep: "messages are nested too deeply to be read"
        case .tooManyLayers: "there are too many nested S/MIME layers"
        case .tooManySignatures: "so many parts are signed that not all were verified"
        case .trailingBytes: "bytes before or after the CMS object are ignored"
        case .unauthenticated: "the encryption hides the content but does not protect it against changes (CBC)"
        case .unterminatedMultipart: "a multipart lacks its closing delimiter: its end may be missing"
        case .weakCipher: "the cipher is too weak to keep the content secret: Triple-DES or RC2"
        case .weakKey:
            "a key is too weak: RSA or DSA under 2048 bits, a curve under 224 bits, or a curve that is unknown or has explicit parameters"
        }
    }
}

extension ProblemCode {
    /// What the user can do about the problem: one sentence without a full stop that names no commands of a program.
    public var advice: String {
        switch self {
        case .accountUnused: "import the private key with its certificate, in one file or in one command"
        case .addressMismatch:
            "recipients will not accept signatures by this identity for the address; request a certificate that names the address"
        case .algorithmUnsupported: "ask the sender to use another algorithm"
        case .digestMD5, .digestSHA1: "ask the sender to sign with SHA-256 or better"
        case .signatureDSA: "ask the sender to sign with an RSA key or an elliptic curve"
        case .attributeDoubled, .cmsMalformed, .contentTypeAttribute, .contradictoryBoundary,
            .duplicateContentType, .duplicateTransferEncoding, .innerSignature, .malformed, .messageDigestAttribute,
            .missingBoundary, .signerAmbiguous, .signingTimeMalformed:
            "ask the sender to send the message again"
        case .cmsLimit, .digestMismatch, .encodedMultipart, .fromDoubled, .fromGroup, .fromMalformed, .fromMissing,
            .fromRoute, .noRecipients, .tooManyLayers:
            "ask the sender to correct the message and to send it again"
        case .attributeUnsigned, .certificateUnreadable, .contentEmbedded, .contentNotOctets,
            .contentTypeUnknown, .crlSignature, .ocspUnusable, .digestNotAnnounced, .mboxLine,
            .pkcs12BadCRL,
            .pkcs12TrailingBytes, .smimeTypeUnderstated, .tooDeep, .trailingBytes:
            "no action is needed"
        case .bareCR, .bareLF, .base64Padding, .blankBeforeColon, .byteOrderMark, .malformedContentType,
            .missingHeaderEnd, .nulByte,
            .unterminatedMultipart:
            "no action is needed, unless all mail has this problem: then a mail system on the way is at fault"
        case .certificateAddressMalformed, .certificateNoAddress, .chainInvalid, .chainNameConstraints, .chainNotCA,
            .chainPolicy, .chainPurpose, .chainSHA1, .chainTooLong, .chainUnknownCriticalExtension,
            .chainWeakSignature, .endEntityIsCA, .keyUsage, .weakKey:
            "ask the owner of the certificate for a better certificate"
        case .chainNotChecked:
            "if a file on this computer cannot be read, correct that; otherwise ask the owner of the certificate for a better certificate"
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
        case .chainDistrusted: "do not rely on the certificate; if you distrusted it by mistake, trust it again"
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
        case .cosigner:
            "no action is needed: the sender's own signature determines the verdict; the report names the other signers"
        case .crlExpired: "get the new list and import it"
        case .encrypted: "decrypt the message to see its signatures"
        case .fromDisplayName: "do not rely on the name: look at the address"
        case .fromSeveral: "ask the sender to send the message again, with one address in From"
        case .innerSigner: "the report names the signers"
        case .headerDiffers, .headerUnprotected:
            "rely only on the protected fields, which the report shows"
        case .signatureOutside: "ask the sender to sign first and then to encrypt"
        case .notLearned: "verify the message to see what is wrong with the signature"
        case .pkcs12BadCertificate, .pkcs12KeyWithoutCertificate, .pkcs12NoMAC, .pkcs12Unsupported:
            "export the PKCS#12 file again, with other settings or another program"
        case .profileAlgorithm, .profileKeySize, .profilePurpose, .profileValidity:
            "no action is needed; if the certificate is your own, ask its authority for the reason"
        case .protectedFromMismatch:
            "do not treat the address in From as the sender: another person may have forwarded the signed mail under a new name"
        case .revocationUnknown: "import the revocation list of the authority"
        case .signatureInvalid: "do not rely on the message: it was changed, or another person signed it"
        case .signerCertificateMismatch:
            "do not rely on the message: the signer named a different certificate"
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
