import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct AccountChangeTests {
    @Test func `an alias for a domain covers all its addresses without an account`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var change = AccountChange()
        change.addedAliases = [try AddressScope("@Пример.test")]
        _ = try await store.accounts.add(EmailAddress("office@example.com"), change, at: .judged)
        _ = try await store.accounts.add(EmailAddress("bob@xn--e1afmkfd.test"), at: .judged)
        let anybody = try await store.accounts.account(for: EmailAddress("anybody@xn--e1afmkfd.test"))
        #expect(anybody.address.text == "office@example.com")
        let bob = try await store.accounts.account(for: EmailAddress("bob@пример.test"))
        #expect(bob.address.text == "bob@xn--e1afmkfd.test")
    }

    @Test func `an import creates an account for an address below a domain alias`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var change = AccountChange()
        change.addedAliases = [try AddressScope("@example.com")]
        _ = try await store.accounts.add(EmailAddress("gateway@example.net"), change, at: .judged)
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        let alice = try await store.accounts.account(for: EmailAddress("alice@example.com"))
        #expect(alice.address.text == "alice@example.com")
        #expect(alice.identities.count == 1)
    }

    @Test func `an alias of another account is refused, and nothing changes`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let (alice, bob) = (try EmailAddress("alice@example.com"), try EmailAddress("bob@example.com"))
        _ = try await store.accounts.add(alice, at: .judged)
        _ = try await store.accounts.add(bob, at: .judged)
        var change = AccountChange()
        change.name = "Bob"
        change.addedAliases = [try AddressScope("bobby@example.com"), try AddressScope("ALICE@example.com")]
        await #expect(throws: KeystoreError.addressTaken("ALICE@example.com", by: alice)) {
            try await store.accounts.set(bob, change)
        }
        let after = try await store.accounts.account(for: bob)
        #expect(after.name == nil)
        #expect(after.aliases.isEmpty)
    }

    @Test func `a pin replaces the previous one for the same use only`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let address = try EmailAddress("alice@example.com")
        _ = try await store.add(try ImportBatch.people("alice", "alice-renewed", "alice-reissued"), at: .judged)
        for name in ["alice", "alice-reissued"] {
            var change = AccountChange()
            change.pin = .identity(try Certificate(fixture: "\(name)/cert.pem").fingerprint)
            let account = try await store.accounts.set(address, change)
            #expect(
                account.identities.filter(\.isPinned).map(\.certificate) == [
                    try Certificate(fixture: "\(name)/cert.pem")
                ]
            )
            let signer = try await store.accounts.signingIdentity(for: address, at: .judged)
            #expect(signer.certificate == (try Certificate(fixture: "\(name)/cert.pem")))
        }
        var change = AccountChange()
        change.pin = AccountChange.Pin.none
        let account = try await store.accounts.set(address, change)
        #expect(account.identities.allSatisfy { !$0.isPinned })
    }

    @Test func `the accounts that can sign for an address are those whose certificate names it`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice", "encrypt-only")
        batch.identities.append(
            .init(
                Identity(unchecked: try Certificate(fixture: "several/cert.pem"), try TestIdentity("several").key),
                accounts: [try EmailAddress("office@example.com")],
                isAssigned: true
            )
        )
        _ = try await store.add(batch, at: .judged)
        func fitting(_ address: String) async throws -> [String] {
            try await store.accounts.accounts(signingAs: EmailAddress(address), at: .judged).map(\.address.text)
        }
        #expect(try await fitting("two@example.org") == ["office@example.com"])
        #expect(try await fitting("alice@example.com") == ["alice@example.com"])
        #expect(try await fitting("encrypt-only@example.com").isEmpty)
        #expect(try await fitting("office@example.com").isEmpty)
    }

    @Test func `removing an account removes its keys, except those of other accounts`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice")
        let shared = try Certificate(fixture: "several/cert.pem")
        let addresses = try ["one@example.com", "two@example.org"].map { try EmailAddress($0) }
        batch.identities.append(
            .init(Identity(unchecked: shared, try TestIdentity("several").key), accounts: addresses, isAssigned: false)
        )
        _ = try await store.add(batch, at: .judged)
        #expect(try await store.accounts.remove(addresses[0]).keys.isEmpty)
        #expect(try await store.accounts.identity(shared.fingerprint).certificate == shared)
        #expect(try await store.accounts.remove(addresses[1]).keys == [shared])
        await #expect(throws: KeystoreError.unknownCertificate(shared.fingerprint)) {
            try await store.accounts.identity(shared.fingerprint)
        }
        #expect(try await store.accounts.all().map(\.address.text) == ["alice@example.com"])
        #expect(try await store.check().isEmpty)
    }
}
