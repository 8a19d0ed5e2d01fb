import CMS
import Keystore
import SMIME

/// What the store knows, for opening messages.
struct StoreKeyProvider: KeyProvider {
    let store: Store
    let systemAnchors: Bool

    func keys(for recipients: [EntityIdentifier]) async throws -> [EncryptedLayer.Key] {
        try await store.accounts.decryptionKeys(matching: recipients).map {
            EncryptedLayer.Key(certificate: $0.certificate, privateKey: $0.key)
        }
    }

    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
        try await store.certificates(matching: signers)
    }

    func trust(for certificates: [Certificate]) async throws -> TrustStore {
        try await store.anchors.trust(judging: certificates, systemAnchors: systemAnchors)
    }
}
