public import SMIME

extension SMIMEError.Code {
    /// From is not exactly one mailbox that all mail programs read as the same address.
    public static let doubtfulAuthor = Self("doubtfulAuthor", .input)
    /// A service that must say whether a certificate may be used does not answer.
    public static let serviceUnavailable = Self("serviceUnavailable", .temporary)
    /// A setting of the store has an invalid value, or names a folder that cannot be read.
    public static let unusableSetting = Self("unusableSetting", .configuration)
}

extension AgentError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .doubtfulAuthor, .noAuthor, .severalFrom: .doubtfulAuthor
        case .holdsPrivateKeys, .malformedRecipients, .noAccountCipher, .notRestorable, .nothingLearned,
            .nothingToImport,
            .unknownCipher, .unnamedIdentity:
            .malformed
        case .impossibleDigest, .noSigner, .notForSigning, .revokedSigner, .signerNotAuthor, .unusableSigner:
            .unusableSigner
        case .noRecipientCertificate, .noRecipients, .weakRecipientKey: .unusableRecipient
        case .noUsableCertificate(_, let isOutage): isOutage ? .serviceUnavailable : .unusableRecipient
        case .tooBigForKeys, .tooManyIterations: .limitExceeded
        case .unpairedKey: .noKeyPair
        case .unreadable(_, let error): SMIMEError(error).code
        case .unreadableFolder: .file
        }
    }
}
