import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct AccountChangeTests {
    @Test func `a domain's alias answers for every address of the domain that nobody else has`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var change = AccountChange()
        change.addedAliases = [try AddressScope("@Пример.test")]
        _ = try await store.accounts.add(EmailAddress("office@example.com"), change, at: Certs.time)
        _ = try await store.accounts.add(EmailAddress("bob@xn--e1afmkfd.test"), at: Certs.time)
        let anybody = try await store.accounts.account(for: EmailAddress("anybody@xn--e1afmkfd.test"))
        #expect(anybody.address.text == "office@example.com")
        let bob = try await store.accounts.account(for: EmailAddress("bob@пример.test"))
        #expect(bob.address.text == "bob@xn--e1afmkfd.test")
    }

    @Test func `an import makes an account of its own below a domain's alias`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var change = AccountChange()
        change.addedAliases = [try AddressScope("@example.com")]
        _ = try await store.accounts.add(EmailAddress("gateway@example.net"), change, at: Certs.time)
        _ = try await store.add(try Certs.batch("alice"), at: Certs.time)
        let alice = try await store.accounts.account(for: EmailAddress("alice@example.com"))
        #expect(alice.address.text == "alice@example.com")
        #expect(alice.identities.count == 1)
    }

    @Test func `an alias of somebody else's changes nothing at all`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let (alice, bob) = (try EmailAddress("alice@example.com"), try EmailAddress("bob@example.com"))
        _ = try await store.accounts.add(alice, at: Certs.time)
        _ = try await store.accounts.add(bob, at: Certs.time)
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

    @Test func `a pin lets go of the one before, of the same use alone`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let address = try EmailAddress("alice@example.com")
        _ = try await store.add(try Certs.batch("alice", "alice-renewed", "alice-reissued"), at: Certs.time)
        for name in ["alice", "alice-reissued"] {
            var change = AccountChange()
            change.pin = .identity(try Certs.certificate(name).fingerprint)
            let account = try await store.accounts.set(address, change)
            #expect(account.identities.filter(\.isPinned).map(\.certificate) == [try Certs.certificate(name)])
            let signer = try await store.accounts.signingIdentity(for: address, at: Certs.time)
            #expect(signer.certificate == (try Certs.certificate(name)))
        }
        var change = AccountChange()
        change.pin = AccountChange.Pin.none
        let account = try await store.accounts.set(address, change)
        #expect(account.identities.allSatisfy { !$0.isPinned })
    }

    @Test func `the accounts that can sign as somebody are those whose certificate names them`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var batch = try Certs.batch("alice", "encrypt-only")
        batch.identities.append(
            .init(
                Identity(unchecked: try Certs.certificate("several"), try Certs.key("several")),
                accounts: [try EmailAddress("office@example.com")],
                isAssigned: true
            )
        )
        _ = try await store.add(batch, at: Certs.time)
        func fitting(_ address: String) async throws -> [String] {
            try await store.accounts.accounts(signingAs: EmailAddress(address), at: Certs.time).map(\.address.text)
        }
        #expect(try await fitting("two@example.org") == ["office@example.com"])
        #expect(try await fitting("alice@example.com") == ["alice@example.com"])
        #expect(try await fitting("encrypt-only@example.com").isEmpty)
        #expect(try await fitting("office@example.com").isEmpty)
    }

    @Test func `removing an account takes its keys along, but none that another account has`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var batch = try Certs.batch("alice")
        let shared = try Certs.certificate("several")
        let addresses = try ["one@example.com", "two@example.org"].map { try EmailAddress($0) }
        batch.identities.append(
            .init(Identity(unchecked: shared, try Certs.key("several")), accounts: addresses, isAssigned: false)
        )
        _ = try await store.add(batch, at: Certs.time)
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
