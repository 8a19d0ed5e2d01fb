public import PKIX
public import SMIME
public import SMIMEStore

extension Store: KeyProvider {
    /// The identity for the first of `recipients` that belongs to an account of the store and has a key that libcrypto
    /// supports; nil if none belongs to an account.
    ///
    /// - Throws: `.unsupported` if libcrypto supports none of the keys; `.storeLocked`, `.wrongPassphrase`, `.storeUnusable`,
    ///   `.storeBusy`
    public func identity(for recipients: [EntityIdentifier]) async throws(SMIMEError) -> Identity? {
        try await SMIMEError.inBackground { try await StoreKeyProvider(self).identity(for: recipients) }
    }

    /// The certificates of `signers` that the store contains.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func certificates(for signers: [EntityIdentifier]) async throws(SMIMEError) -> [Certificate] {
        try await SMIMEError.inBackground { try await StoreKeyProvider(self).certificates(for: signers) }
    }

    /// The trust settings for `certificates`: the store's trust anchors, pinned certificates and revocation lists, the lists
    /// in the folder of the setting `revocation.directory`, and the system's trust anchors.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func trust(for certificates: [Certificate]) async throws(SMIMEError) -> TrustStore {
        try await SMIMEError.inBackground { try await StoreKeyProvider(self).trust(for: certificates) }
    }

    /// The exceptions in the settings: `verify.accept-sender`, `verify.accept-weak`.
    ///
    /// - Throws: `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public func exceptions() async throws(SMIMEError) -> VerdictExceptions {
        try await SMIMEError.inBackground { try await verdictExceptions() }
    }

    /// All keys and all trust settings of the store as they are now, in memory. Use this for archives of many messages: the
    /// store is not queried for each message, and later changes of the store have no effect. The validity of certificates is
    /// judged when a message is opened.
    ///
    /// - Throws: `.storeLocked`, `.wrongPassphrase`, `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public func keyring() async throws(SMIMEError) -> Keyring {
        try await SMIMEError.inBackground {
            var identities: [Identity] = []
            var seen: Set<Certificate> = []
            for account in try await accounts.all() {
                identities += try await accounts.identities(of: account.address)
                    .filter { seen.insert($0.certificate).inserted }
            }
            var trust = try await anchors.wholeTrust(systemAnchors: true)
            let filed = try await filedRevocationLists()
            trust.add(filed.all)
            trust.unreadableLists += filed.unreadable
            var keyring = Keyring(identities, certificates: try await recipients.all().map(\.certificate))
            keyring.trust = trust
            keyring.accepted = try await verdictExceptions()
            return keyring
        }
    }
}
