package import PKIX
package import SMIME
package import SMIMEStore

/// The keys, certificates and trust settings of a store, for opening messages. Includes the revocation lists in the folder
/// that the store's setting `revocation.directory` names.
///
/// A provider reads the folder only once, so a server creates a new provider from time to time.
package struct StoreKeyProvider: KeyProvider {
    private let opening: StoreOpening
    private let systemAnchors: Bool
    private let lists: FolderLists

    /// A provider for a store that is still being opened; calls wait until it is open.
    ///
    /// - Parameters:
    ///   - systemAnchors: whether the system's trust anchors are used.
    ///   - warn: called for files in the folder of revocation lists that are ignored.
    package init(
        _ opening: StoreOpening,
        systemAnchors: Bool = true,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.opening = opening
        self.systemAnchors = systemAnchors
        lists = FolderLists(warn: warn)
    }

    /// A provider for a store that is already open, with the parameters of `init(_:systemAnchors:warn:)`.
    package init(
        _ store: Store,
        systemAnchors: Bool = true,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(StoreOpening(store), systemAnchors: systemAnchors, warn: warn)
    }

    /// The identity for the first of `recipients` that belongs to an account of the store and has a key that libcrypto
    /// supports; nil if none belongs to an account.
    ///
    /// - Throws: `KeystoreError`, such as `.unsupportedKey` if libcrypto supports none of the keys; the errors of
    ///   opening the store
    package func identity(for recipients: [EntityIdentifier]) async throws -> Identity? {
        try await opening.store().accounts.decryptionKey(matching: recipients)
    }

    /// The certificates of `signers` that the store contains.
    package func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
        try await opening.store().certificates(matching: signers)
    }

    /// The trust settings for `certificates`. If the folder of revocation lists or a file in it cannot be read, verdicts made
    /// with these settings say so.
    ///
    /// - Throws: `KeystoreError`
    package func trust(for certificates: [Certificate]) async throws -> TrustStore {
        let store = try await opening.store()
        var trust = try await store.anchors.trust(judging: certificates, systemAnchors: systemAnchors)
        let folder = try await lists.contents(in: store)
        trust.add(folder.lists)
        trust.unreadableLists += folder.faults
        return trust
    }

    /// The exceptions in the settings: `verify.accept-sender`, `verify.accept-weak`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func exceptions() async throws -> VerdictExceptions { try await opening.store().verdictExceptions() }
}
