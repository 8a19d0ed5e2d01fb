public import SMIME

extension SMIMEError.Code {
    /// The address belongs to another account.
    public static let addressTaken = Self("addressTaken", .input)
    /// The account has no identity that can be used for the purpose now.
    public static let noUsableIdentity = Self("noUsableIdentity", .key)
    /// Another process kept the store locked for too long.
    public static let storeBusy = Self("storeBusy", .temporary)
    /// The store is locked with a passphrase, and no passphrase was given.
    public static let storeLocked = Self("storeLocked", .key)
    /// The store can be read but not written.
    public static let storeReadOnly = Self("storeReadOnly", .configuration)
    /// The server with the store's database cannot be reached.
    public static let storeUnreachable = Self("storeUnreachable", .temporary)
    /// The store is missing, damaged, of another version, or accessible to other users. It is never treated as an empty
    /// store.
    public static let storeUnusable = Self("storeUnusable", .configuration)
    /// No account has the address.
    public static let unknownAccount = Self("unknownAccount", .recipient)
    /// The store does not have the certificate.
    public static let unknownCertificate = Self("unknownCertificate", .recipient)
    /// No certificate is known for the address.
    public static let unknownRecipient = Self("unknownRecipient", .recipient)
}

extension KeystoreError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .addressTaken: .addressTaken
        case .busy, .openingTimedOut: .storeBusy
        case .cancelled: .cancelled
        case .cannotCreate, .cannotOpen, .corrupt, .foreignCopy, .keyMismatch, .keyMissing, .missing, .newer,
            .newerBackup, .noStore, .notMigrated, .notPossible, .occupied, .older, .permissions, .unusableAddress,
            .unusableHostSettings, .unusableRole:
            .storeUnusable
        case .closed, .insideStore, .unexpected: .bug
        case .locked: .storeLocked
        case .malformedBackup: .malformed
        case .noAccount, .unknownAccount, .unknownAlias: .unknownAccount
        case .noAddress, .unknownRecipient: .unknownRecipient
        case .noUsableIdentity, .revokedIdentity: .noUsableIdentity
        case .notWritable: .storeReadOnly
        case .unknownCertificate: .unknownCertificate
        case .unreachable: .storeUnreachable
        case .unmatchedKey: .noKeyPair
        case .unsupportedKey: .unsupported
        case .wrongPassphrase: .wrongPassphrase
        case .writeFailed: .file
        }
    }
}
