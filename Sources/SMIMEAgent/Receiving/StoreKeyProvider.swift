package import PKIX
package import SMIME
package import SMIMEStore

/// The keys, certificates and trust of a store, for opening messages; the lists of the folder that its setting
/// `revocation.directory` names count, too.
///
/// The folder is read once, so a server makes a new provider from time to time, as the filter does.
package struct StoreKeyProvider: KeyProvider {
    private let opening: StoreOpening
    private let systemAnchors: Bool
    private let lists: FolderLists

    /// A provider for a store that is still being opened; calls wait for it.
    ///
    /// - Parameters:
    ///   - systemAnchors: whether the system's trust anchors count.
    ///   - warn: called for files in the folder that are no lists.
    package init(
        _ opening: StoreOpening,
        systemAnchors: Bool = true,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.opening = opening
        self.systemAnchors = systemAnchors
        lists = FolderLists(warn: warn)
    }

    /// A provider for an open store; else as above.
    package init(
        _ store: Store,
        systemAnchors: Bool = true,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(StoreOpening(store), systemAnchors: systemAnchors, warn: warn)
    }

    /// The key of the first of `recipients` that is one of the store's accounts.
    package func identity(for recipients: [EntityIdentifier]) async throws -> Identity? {
        try await opening.store().accounts.decryptionKey(matching: recipients)
    }

    /// The certificates that the store has of `signers`.
    package func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
        try await opening.store().certificates(matching: signers)
    }

    /// The trust settings for `certificates`. If the folder of revocation lists cannot be read, its verdicts say so.
    ///
    /// - Throws: `KeystoreError`, `SettingError`
    package func trust(for certificates: [Certificate]) async throws -> TrustStore {
        let store = try await opening.store()
        var trust = try await store.anchors.trust(judging: certificates, systemAnchors: systemAnchors)
        let folder = try await lists.contents(in: store)
        trust.certificateLists += folder.lists
        trust.unreadableLists += folder.failure.map { ["\($0)"] } ?? []
        return trust
    }

    /// The exceptions in the settings: `verify.accept-sender`, `verify.accept-weak`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func exceptions() async throws -> VerdictExceptions { try await opening.store().verdictExceptions() }
}
