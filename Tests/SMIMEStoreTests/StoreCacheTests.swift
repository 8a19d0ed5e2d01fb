import Foundation
import GRDB
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEStore
import TestSupport
import Testing

/// Cached data of a long-running process is discarded as soon as another process changes the store.
@Suite struct StoreCacheTests {
    private let alice: EmailAddress
    private let bob: AddressScope

    init() throws {
        alice = try EmailAddress("alice@example.com")
        bob = try AddressScope("bob@example.com")
    }

    /// A home with alice's key, bob's certificate, and their authority.
    private func filledHome() async throws -> TemporaryHome {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice")
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        batch.recipients = [.init(certificate: try Certificate(fixture: "bob/cert.pem"), addresses: [bob])]
        _ = try await store.add(batch, at: .judged)
        try await store.close()
        return home
    }

    /// The store's answers to the queries for one message, as text.
    private func asked(_ store: Store) async throws -> [String: String] {
        let messageStore = store.forOneMessage()
        let lookup = RecipientLookup(store: messageStore, systemAnchors: false)
        let choice = try await lookup.choices(for: [bob], at: .judged).choices[0]
        let signer: String
        do throws(KeystoreError) {
            let identity = try await messageStore.accounts.signingIdentity(for: alice, at: .judged)
            signer = "\(identity.certificate.fingerprint)"
        } catch { signer = "\(error)" }
        let rules = try await messageStore.read { try $0.rules(forSenders: [alice], recipients: []) }
        let certificate = try Certificate(fixture: "bob/cert.pem")
        let trust = try await messageStore.anchors.trust(judging: [certificate], systemAnchors: false)
        return [
            "chosen": choice.selected.map { "\($0.certificate.fingerprint)" } ?? choice.reasonForNoCertificate,
            "signer": signer, "rules": "\(rules)", "settings": "\(try await messageStore.settings.all())",
            "account": "\(try await messageStore.accounts.summary(of: alice)?.address.text ?? "none")",
            "aliases": "\(try await messageStore.accounts.account(ifAnyFor: alice)?.aliases ?? [])",
            "anchors": "\(trust.anchors.count)", "lists": "\(trust.certificateLists.count)",
            "verdict": "\(trust.judge(certificate, purpose: .encryption, at: .judged).isTrusted)",
        ]
    }

    /// The answers that differ for the next message after another process has made `change`.
    private func differences(_ change: (Store, TemporaryHome) async throws -> Void) async throws -> Set<String> {
        let home = try await filledHome()
        let store = try await home.open(.readOnly)
        let before = try await asked(store)
        #expect(try await asked(store) == before)
        let other = try await home.open()
        try await change(other, home)
        try await other.close()
        let after = try await asked(store)
        // The reference is a new object without a cache.
        #expect(try await asked(home.open(.readOnly)) == after)
        try await store.close()
        return Set(before.keys.filter { before[$0] != after[$0] })
    }

    @Test func `distrust of a recipient applies to the next message`() async throws {
        let found = try await differences { store, _ in
            _ = try await store.recipients.setTrust(.distrusted, of: bob)
        }
        #expect(found.contains("chosen"))
    }

    @Test func `a removed recipient is no longer encrypted to`() async throws {
        #expect(try await differences { store, _ in _ = try await store.recipients.remove(bob) } == ["chosen"])
    }

    @Test func `changed settings and rules apply to the next message`() async throws {
        let found = try await differences { store, _ in
            try await store.settings.set("key", to: "value")
            _ = try await store.policy.set(Policy.Rule(.global, sign: .require))
        }
        #expect(found == ["rules", "settings"])
    }

    @Test func `a changed or removed account applies to the next message`() async throws {
        let changed = try await differences { store, _ in
            var change = AccountChange()
            change.addedAliases = [try AddressScope("sales@example.com")]
            _ = try await store.accounts.set(alice, change)
        }
        #expect(changed == ["aliases"])
        let removed = try await differences { store, _ in _ = try await store.accounts.remove(alice) }
        #expect(removed.isSuperset(of: ["account", "signer"]))
    }

    @Test func `a removed anchor is no longer trusted`() async throws {
        let found = try await differences { store, _ in
            _ = try await store.anchors.remove([try Certificate(fixture: "ca/root.pem").fingerprint])
        }
        #expect(found == ["anchors", "chosen", "verdict"])
    }

    @Test func `a store with a new store key still signs`() async throws {
        #expect(try await differences { store, _ in _ = try await store.rekey(passphrase: nil, at: .now) } == [])
    }

    @Test(.onSQLite) func `a restored store is used for the next message`() async throws {
        let found = try await differences { store, home in
            let copy = home.path + "/copy.sqlite"
            try await store.backup(to: copy)
            try await store.settings.set("key", to: "1")
            _ = try await store.accounts.remove(alice)
            _ = try await Store.restore(home.location, from: copy)
            try await store.settings.set("key", to: "2")
        }
        #expect(found == ["settings"])
    }

    @Test(.onSQLite) func `a replaced store file is used for the next message`() async throws {
        let found = try await differences { store, home in
            let copy = home.path + "/copy.sqlite"
            _ = try await store.recipients.setTrust(.distrusted, of: bob)
            try await store.backup(to: copy)
            #expect(chmod(copy, 0o600) == 0 && rename(copy, home.location.database) == 0)
            for suffix in ["-wal", "-shm"] { unlink(home.location.database + suffix) }
        }
        #expect(found.contains("chosen"))
    }

    @Test func `a change is visible to the message that made it`() async throws {
        let home = try await filledHome()
        let store = try await home.open().forOneMessage()
        #expect(try await store.settings.value(of: "key") == nil)
        try await store.settings.set("key", to: "1")
        #expect(try await store.settings.value(of: "key") == "1")
    }

    @Test func `a message sees one state of the store, and the next message the latest`() async throws {
        let home = try await filledHome()
        let store = try await home.open(.readOnly)
        let message = store.forOneMessage()
        #expect(try await message.settings.value(of: "key") == nil)
        try await home.open().settings.set("key", to: "1")
        #expect(try await message.settings.value(of: "key") == nil)
        #expect(try await store.settings.value(of: "key") == "1")
        #expect(try await store.forOneMessage().settings.value(of: "key") == "1")
    }

    @Test func `dates that the change counter ignores are read again after an own change`() async throws {
        let home = try await filledHome()
        let store = try await home.open()
        let later = Date.judged.addingTimeInterval(3 * 86_400)
        let sighting = SignerSighting(
            address: try EmailAddress("bob@example.com"),
            certificate: try Certificate(fixture: "bob/cert.pem"),
            isAnchored: true,
            signingTime: later
        )
        #expect(try await store.forOneMessage().recipients.preview([sighting], at: later).changesStore)
        let message = store.forOneMessage()
        #expect(try await message.recipients.learn([sighting], at: later).changesStore)
        #expect(try await !message.recipients.preview([sighting], at: later).changesStore)
        #expect(try await !store.forOneMessage().recipients.preview([sighting], at: later).changesStore)
    }

    @Test(.onSQLite) func `a store that disappears is missed by the next message, and used again once it is back`()
        async throws
    {
        let home = try await filledHome()
        let store = try await home.open(.readOnly)
        let before = try await asked(store)
        let path = home.location.database
        for file in [path, path + "-wal", path + "-shm"] { _ = rename(file, file + ".away") }
        await #expect(throws: KeystoreError.missing(path: path)) { try await store.forOneMessage().settings.all() }
        for file in [path, path + "-wal", path + "-shm"] { _ = rename(file + ".away", file) }
        #expect(try await asked(store) == before)
    }

    @Test func `a closed store returns nothing from its cache`() async throws {
        let home = try await filledHome()
        let store = try await home.open(.readOnly)
        _ = try await asked(store)
        try await store.close()
        await #expect(throws: KeystoreError.self) { try await store.forOneMessage().settings.all() }
    }

    @Test func `keys are unsealed once while nothing changes`() async throws {
        let home = try await filledHome()
        let store = try await home.open(.readOnly)
        _ = try await store.forOneMessage().accounts.signingIdentity(for: alice, at: .judged)
        // The key file is needed for keys that have not been opened yet.
        let file = home.location.keyFile
        #expect(rename(file, file + ".gone") == 0)
        _ = try await store.forOneMessage().accounts.signingIdentity(for: alice, at: .judged)
        let other = try await home.open(.readOnly)
        await #expect(throws: KeystoreError.self) {
            try await other.forOneMessage().accounts.signingIdentity(for: alice, at: .judged)
        }
    }
}
