import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEStore
import TestSupport
import Testing

/// Backups of accounts with many keys can be read again, and undo nothing.
@Suite struct AccountBackupTests {
    private func restored(_ backup: [UInt8]) async throws -> [Identity] {
        let home = try TemporaryHome()
        let store = try await home.open()
        try await restore(backup, into: store)
        return try await store.accounts.identities(of: EmailAddress("zoe@example.org"))
    }

    private func backup(of address: String, in store: Store) async throws -> [UInt8] {
        try await store.backupAccounts(
            [EmailAddress(address)],
            passphrase: Passphrase("test".utf8),
            at: Date.judged
        )
    }

    @discardableResult
    private func restore(_ backup: [UInt8], into store: Store) async throws -> RestoreReport {
        let restoration = try Restoration(backup, passphrase: Passphrase("test".utf8), path: "backup")
        return try await store.restore(restoration, setting: "nothing") { $0 }
    }

    /// `backup` with changed content, which only an attacker who knows the passphrase can make.
    private func forged(_ backup: [UInt8], _ change: (String) -> String) throws -> [UInt8] {
        let magicCount = "smime-backup-1\n".utf8.count
        let header = Array(backup.prefix(magicCount + SealingKey.wrappedCount))
        let key = try SealingKey(
            wrapped: Array(header.dropFirst(magicCount)),
            passphrase: Passphrase("test".utf8)
        )
        let sealed = Array(backup.dropFirst(header.count).dropLast(32))
        let content = try key.open(sealed, authenticating: header).copied()
        let changed = Array(change(String(decoding: content, as: UTF8.self)).utf8)
        let file = header + (try key.seal(changed, authenticating: header))
        return file + (try DigestAlgorithm.sha256.digest(file))
    }

    /// A store with Carol's account, that knows these certificates of other people.
    private func store(in home: TemporaryHome, knowing names: String...) async throws -> Store {
        let store = try await home.open()
        var batch = try ImportBatch.people("carol")
        for name in names {
            let certificate = try Certificate(fixture: "\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: .judged)
        return store
    }

    @Test(arguments: [KnownRecipient.Trust.pinned, .distrusted])
    func `a decision in the backup ends a hold`(decision: KnownRecipient.Trust) async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home, knowing: "bob")
        let bob = try AddressScope("bob@example.com")
        _ = try await store.recipients.setTrust(decision, of: bob)
        let backup = try await backup(of: "carol@example.com", in: store)
        try await home.change(
            "UPDATE recipient SET source = 'harvest', trust = 'held' WHERE address_key = '\(bob.key)'"
        )
        try await restore(backup, into: store)
        #expect(try await store.recipients.certificates(for: bob).map(\.trust) == [decision])
    }

    @Test func `an account's own certificate is no longer held after its backup was restored`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let backup = try await backup(of: "carol@example.com", in: store)
        try await home.change("UPDATE recipient SET source = 'harvest', trust = 'held'")
        try await restore(backup, into: store)
        let known = try await store.recipients.certificates(for: AddressScope("carol@example.com"))
        #expect(known.map(\.source) == [.identity] && known.map(\.trust) == [.chain])
    }

    @Test func `a backup that lacks the private key makes no certificate the user's own`() async throws {
        let home = try TemporaryHome()
        let source = try await store(in: home, knowing: "bob")
        let honest = try await backup(of: "carol@example.com", in: source)
        let changed = try forged(honest) { $0.replacing("\"source\":\"import\"", with: "\"source\":\"identity\"") }
        let other = try TemporaryHome()
        let target = try await other.open()
        try await restore(changed, into: target)
        let bob = try await target.recipients.certificates(for: AddressScope("bob@example.com"))
        #expect(bob.map(\.source) == [.imported])
        let carol = try await target.recipients.certificates(for: AddressScope("carol@example.com"))
        #expect(carol.map(\.source) == [.identity])
    }

    @Test func `the report names the pins, distrusts and aliases that are new`() async throws {
        let home = try TemporaryHome()
        let source = try await store(in: home, knowing: "alice", "bob")
        var change = AccountChange()
        change.addedAliases = [try AddressScope("@example.net")]
        _ = try await source.accounts.set(EmailAddress("carol@example.com"), change)
        _ = try await source.recipients.setTrust(.pinned, of: AddressScope("bob@example.com"))
        _ = try await source.recipients.setTrust(.distrusted, of: AddressScope("alice@example.com"))
        let backup = try await backup(of: "carol@example.com", in: source)
        let other = try TemporaryHome()
        let target = try await other.open()
        let first = try await restore(backup, into: target)
        #expect(first.newDecisions.map(\.address) == ["alice@example.com", "bob@example.com"])
        #expect(first.newDecisions.map(\.trust) == [.distrusted, .pinned])
        #expect(first.newAliases.map(\.alias.text) == ["@example.net"])
        let second = try await restore(backup, into: target)
        #expect(second.newDecisions.isEmpty && second.newAliases.isEmpty)
    }

    @Test func `a pin stays if the backup distrusts another certificate for the key`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home, knowing: "alice", "alice-reissued")
        let alice = try AddressScope("alice@example.com")
        _ = try await store.recipients.setTrust(.distrusted, of: alice)
        let backup = try await backup(of: "carol@example.com", in: store)
        let pinned = try Certificate(fixture: "alice/cert.pem").fingerprint
        _ = try await store.recipients.setTrust(.pinned, of: alice, fingerprint: pinned)
        try await restore(backup, into: store)
        #expect(try await store.recipients.certificates(for: alice).map(\.trust) == [.pinned, .pinned])
        // Without a decision in the store, the backup's distrust applies.
        _ = try await store.recipients.setTrust(.chain, of: alice)
        try await restore(backup, into: store)
        #expect(try await store.recipients.certificates(for: alice).map(\.trust) == [.distrusted, .distrusted])
    }

    @Test func `a pinned identity is restored beside one that is pinned for another use`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let split = try EmailAddress("split@example.com")
        let encryption = try Certificate(fixture: "split/encrypt-cert.pem")
        let key = try PrivateKey(pem: Fixtures.cert("split/encrypt-key.pem"), passphrase: nil)
        var batch = try ImportBatch.people("split")
        batch.identities.append(.init(Identity(unchecked: encryption, key), accounts: [split], isAssigned: false))
        _ = try await store.add(batch, at: .judged)
        var change = AccountChange()
        change.pin = .identity(encryption.fingerprint)
        _ = try await store.accounts.set(split, change)
        let backup = try await backup(of: "split@example.com", in: store)
        _ = try await store.accounts.remove(encryption.fingerprint, from: split)
        change.pin = .identity(try Certificate(fixture: "split/cert.pem").fingerprint)
        _ = try await store.accounts.set(split, change)
        try await restore(backup, into: store)
        #expect(try await store.accounts.account(for: split).identities.map(\.isPinned) == [true, true])
    }

    @Test func `an account with 130 identities is restored from its backup`() async throws {
        let factory = try CertificateFactory()
        try factory.sh(
            """
            for i in $(seq 130); do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout one.key -subj /CN=$i -days 3650 \
            -addext basicConstraints=CA:FALSE -addext subjectAltName=email:zoe@example.org -out one.pem 2>/dev/null
            cat one.key one.pem >>all.pem
            done
            """
        )
        var batch = ImportBatch()
        var key: PrivateKey?
        for item in try KeyMaterial.read(factory.bytes("all.pem")) {
            switch item {
            case .privateKey(let encoded): key = try encoded.decode(passphrase: nil)
            case .certificate(let certificate):
                let accounts = certificate.emailAddresses
                batch.identities.append(
                    .init(Identity(unchecked: certificate, try #require(key)), accounts: accounts, isAssigned: false)
                )
            default: Issue.record("neither key nor certificate")
            }
        }
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(batch, at: .judged)
        let keys = try await restored(try await backup(of: "zoe@example.org", in: store))
        #expect(Set(keys.map(\.certificate)) == Set(batch.identities.map(\.identity.certificate)))
        #expect(keys.allSatisfy { $0.key.belongs(to: $0.certificate) })
    }
}
