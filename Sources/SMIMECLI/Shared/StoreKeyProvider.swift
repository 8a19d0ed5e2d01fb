import CMS
import Keystore
import SMIME

/// What the store knows, for opening messages.
struct StoreKeyProvider: KeyProvider {
    let opening: StoreOpening
    let systemAnchors: Bool
    private let lists = FolderLists()

    init(opening: StoreOpening, systemAnchors: Bool) {
        self.opening = opening
        self.systemAnchors = systemAnchors
    }

    init(store: Store, systemAnchors: Bool) {
        self.init(opening: StoreOpening(store), systemAnchors: systemAnchors)
    }

    func keys(for recipients: [EntityIdentifier]) async throws -> [EncryptedLayer.Key] {
        try await opening.store().accounts.decryptionKeys(matching: recipients).map {
            EncryptedLayer.Key(certificate: $0.certificate, privateKey: $0.key)
        }
    }

    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
        try await opening.store().certificates(matching: signers)
    }

    func trust(for certificates: [Certificate]) async throws -> TrustStore {
        let store = try await opening.store()
        var trust = try await store.anchors.trust(judging: certificates, systemAnchors: systemAnchors)
        trust.certificateLists += try await lists.lists(in: store)
        return trust
    }
}
