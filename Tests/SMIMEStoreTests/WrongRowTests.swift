import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// Rows that are unreadable or false, as a gateway could write them into a shared store. The other rows stay usable, and the
/// bad ones are reported.
@Suite struct WrongRowTests {
    /// Adds a certificate whose columns are false, by default a single invalid byte. It is found by the names of `like`.
    private func add(_ der: [UInt8] = [0], like certificate: Certificate, to scene: VerdictScene) async throws {
        func hex(_ bytes: [UInt8]) -> String { "x'\(bytes.map { String(format: "%02x", $0) }.joined())'" }
        try await scene.home.change(
            """
            INSERT INTO certificate (fingerprint, der, subject_key, issuer, serial, key_identifier, not_before, not_after, usage,
                public_key, subject_name, issuer_name, addresses, issuer_key, name_digest)
            VALUES (\(hex(try DigestAlgorithm.sha256.digest(der))), \(hex(der)), \(hex(try certificate.subject.matchingKey)),
                \(hex(certificate.issuer.der)), \(hex(certificate.serialNumber)), \(hex(certificate.subjectKeyIdentifier ?? [0])),
                0, 99999999999, 3, x'00', 'x', 'x', 'alice@example.com', x'00', x'00')
            """
        )
    }

    /// Makes the certificate selected by `condition` known for `key`, as if it had been learned.
    private func learn(_ key: String, as address: String, condition: String, in scene: VerdictScene) async throws {
        try await scene.home.change(
            """
            INSERT INTO recipient (address_key, certificate, address, source, first_seen, last_seen, trust)
            SELECT '\(key)', id, '\(address)', 'harvest', 0, 0, 'chain' FROM certificate WHERE \(condition)
            """
        )
    }

    private func repair(_ scene: VerdictScene) async throws -> StoreCheck {
        let location = scene.home.location
        return try await StoreCheck.run(
            of: location,
            cleaning: .unused,
            at: scene.time,
            openForReading: { try await Store.open(location, mode: .readOnly) },
            openForWriting: { try await Store.open(location, mode: .readWriteExisting) }
        )
    }

    @Test func `a fetched list that cannot be read stops nothing, and lets no certificate be known as good`()
        async throws
    {
        let scene = try await VerdictScene()
        try await scene.addList("good")
        // No list is needed for certificates above an anchor.
        try await scene.add("ca", isAnchor: true)
        let alice = try scene.certificate("alice")
        func status(_ options: ValidationOptions = ValidationOptions()) async throws -> ChainVerdict.Revocation? {
            let trust = try await scene.store.anchors.trust(judging: [alice], systemAnchors: false)
            let whole = try await scene.store.anchors.wholeTrust(systemAnchors: false)
            let verdicts = [trust, whole].map {
                $0.judging(by: options).judge(alice, purpose: .signing, at: scene.time).revocation
            }
            #expect(verdicts[0] == verdicts[1])
            return verdicts[0]
        }
        let before = try #require(try await status())
        #expect(before.status == .good)
        try await scene.home.change(
            """
            INSERT INTO crl (fingerprint, issuer_key, der, added, fetched)
            SELECT x'6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d', issuer_key, x'00', 0, 1 FROM crl
            """
        )
        let after = try #require(try await status())
        #expect(after.status == .unknown)
        #expect(after.problems.contains { $0.kind == .crlUnreadable && $0.text.contains("in the store") })
        #expect(try await status(ValidationOptions(revocation: .hard))?.problems.first?.kind == .revocationUnknown)
        #expect(try await scene.reasons().kept == ["selected", "selected", "untrusted"])
        #expect(try await scene.reasons().listed == ["selected", "selected", "untrusted"])
        #expect(
            try await scene.reasons(ValidationOptions(revocation: .hard)).kept
                == ["revocation-unknown", "revocation-unknown", "untrusted"]
        )

        let findings = try await scene.store.check()
        #expect(findings.map(\.code) == [.unreadable] && findings.map(\.level) == [.warning], "\(findings)")
        let repaired = try await repair(scene)
        #expect(repaired.repaired == 1 && repaired.findings.isEmpty)
        #expect(try await status() == before)
        #expect(try await scene.home.number("SELECT count(*) FROM crl") == 1)
    }

    @Test func `an imported list that cannot be read stops those who need it, and is not removed`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("good")
        try await scene.home.change("UPDATE crl SET der = x'00'")
        await #expect(throws: KeystoreError.self) { try await scene.reasons() }
        #expect(try await scene.store.check().map(\.level) == [.error])
        #expect(try await repair(scene).repaired == 0)
        #expect(try await scene.home.number("SELECT count(*) FROM crl") == 1)
    }

    @Test func `a learned certificate that cannot be read stops nothing and is named`() async throws {
        let scene = try await VerdictScene()
        let before = try await scene.reasons()
        try await add(like: scene.certificate("ca"), to: scene)
        let garbage = "subject_name = 'x'"
        try await learn("alice@example.com", as: "alice@example.com", condition: garbage, in: scene)
        try await learn("@example.com", as: "@example.com", condition: garbage, in: scene)
        try await scene.home.change(
            "INSERT INTO intermediate (certificate, learned) SELECT id, 1 FROM certificate WHERE \(garbage)"
        )
        let after = try await scene.reasons()
        #expect(after.kept == before.kept && after.fresh == before.fresh && after.listed == before.listed)
        let alice = try AddressScope("alice@example.com")
        let answer = try await scene.lookup().choices(for: [alice], at: scene.time)
        #expect(
            answer.warnings.count == 2 && answer.warnings[1].hasPrefix("alice@example.com: a certificate in the store")
        )
        #expect(try await scene.store.recipients.all().count == 3)
        _ = try await scene.store.anchors.wholeTrust(systemAnchors: false)
        _ = try await scene.store.untidied(at: scene.time)
        let ca = try scene.certificate("ca")
        let named = try await scene.store.certificates(
            matching: [.issuerAndSerial(issuer: ca.issuer.der, serialNumber: ca.serialNumber)]
        )
        #expect(named == [ca])
        let sighting = SignerSighting(
            address: try EmailAddress("alice@example.com"),
            certificate: try scene.certificate("alice"),
            authorities: []
        )
        _ = try await scene.store.recipients.learn([sighting], at: scene.time)

        #expect(try await scene.store.check().map(\.code) == [.unreadable])
        let repaired = try await repair(scene)
        #expect(repaired.repaired == 1 && repaired.findings.isEmpty, "\(repaired.findings)")
        #expect(try await scene.home.number("SELECT count(*) FROM certificate WHERE \(garbage)") == 0)
    }

    @Test func `a row that cannot be read does not stop the learning of its certificate's mail`() async throws {
        let scene = try await VerdictScene()
        let alice = try EmailAddress("alice@example.com")
        _ = try await scene.store.recipients.remove(AddressScope(alice))
        let sighting = SignerSighting(address: alice, certificate: try scene.certificate("alice"), authorities: [])
        _ = try await scene.store.recipients.learn([sighting], at: scene.time)
        try await scene.home.change("UPDATE recipient SET address = 'no address' WHERE address_key = '\(alice.key)'")
        _ = try await scene.store.recipients.learn([sighting], at: scene.time)
        #expect(try await scene.store.check().contains { $0.code == .unreadable })
    }

    @Test(arguments: ["UPDATE recipient SET trust = 'pinned'", "UPDATE recipient SET source = 'import'"])
    func `what a person decided about is not passed over where it cannot be read`(decision: String) async throws {
        let scene = try await VerdictScene()
        try await add(like: scene.certificate("ca"), to: scene)
        try await learn("alice@example.com", as: "alice@example.com", condition: "subject_name = 'x'", in: scene)
        try await scene.home.change(decision)
        await #expect(throws: KeystoreError.self) {
            try await scene.store.recipients.certificates(for: AddressScope("alice@example.com"))
        }
        #expect(try await scene.store.check().first?.level == .error)
        #expect(try await repair(scene).repaired == 0)
    }

    @Test(arguments: ["bob@example.com", "no address", ""])
    func `a learned row speaks for no other address than its own`(address: String) async throws {
        let scene = try await VerdictScene()
        let alice = try AddressScope("alice@example.com")
        _ = try await scene.store.recipients.remove(alice)
        let bob = try scene.certificate("bob").fingerprint.hexadecimal
        try await learn(alice.key, as: address, condition: "fingerprint = x'\(bob)'", in: scene)
        let choice = try await scene.lookup().choices(for: [alice], at: scene.time)
        #expect(choice.choices.map { $0.selected == nil } == [true] && choice.warnings.count == 1)
        let listed = try await scene.lookup().overviews(of: [alice], at: scene.time).overviews
        #expect(listed.map { $0.selected == nil } == [true])
        #expect(
            try await scene.store.recipients.addresses().map(\.text) == VerdictScene.people.map { "\($0)@example.com" }
        )
        #expect(try await scene.store.recipients.all().count == 2)
        #expect(try await scene.store.check().map(\.code) == [.unreadable])
        #expect(try await repair(scene).repaired == 1)
        #expect(try await scene.store.recipients.addresses().count == 2)
    }

    @Test(arguments: ["bob@example.com", "no address", ""])
    func `a held row with another address than its own is not listed, the others are`(address: String) async throws {
        let scene = try await VerdictScene()
        let bob = try scene.certificate("bob").fingerprint.hexadecimal
        try await learn("dave@example.com", as: address, condition: "fingerprint = x'\(bob)'", in: scene)
        try await scene.home.change("UPDATE recipient SET source = 'harvest', trust = 'held'")
        let held = try await scene.store.recipients.held().map(\.address.text)
        #expect(held == VerdictScene.people.map { "\($0)@example.com" })
    }

    @Test func `an account backup leaves out what cannot be read, and can be restored`() async throws {
        let scene = try await VerdictScene()
        _ = try await scene.store.add(try ImportBatch.people("dana"), at: scene.time)
        try await scene.addList("good")
        try await scene.home.change(
            """
            INSERT INTO crl (fingerprint, issuer_key, der, added, fetched)
            SELECT x'6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d', issuer_key, x'00', 0, 1 FROM crl
            """
        )
        try await add(like: scene.certificate("ca"), to: scene)
        try await learn("erin@example.com", as: "erin@example.com", condition: "subject_name = 'x'", in: scene)
        try await scene.home.change(
            "INSERT INTO intermediate (certificate, learned) SELECT id, 1 FROM certificate WHERE subject_name = 'x'"
        )
        let bob = try scene.certificate("bob").fingerprint.hexadecimal
        for (key, address) in [("frank@example.com", "no address"), ("grace@example.com", "heidi@example.com")] {
            try await learn(key, as: address, condition: "fingerprint = x'\(bob)'", in: scene)
        }
        let backup = try await scene.store.backupAccounts(
            [EmailAddress("dana@example.com")],
            passphrase: Passphrase("test".utf8),
            at: scene.time
        )
        let home = try TemporaryHome()
        let store = try await home.open()
        let restoration = try Restoration(backup, passphrase: Passphrase("test".utf8), path: "backup")
        _ = try await store.restore(restoration, setting: "nothing") { $0 }
        let people = VerdictScene.people + ["dana"]
        #expect(try await store.recipients.addresses().map(\.text) == people.map { "\($0)@example.com" })
        #expect(try await home.number("SELECT count(*) FROM crl") == 1)
        #expect(try await store.check().isEmpty)
    }

    @Test func `a learned certificate that another one replaced is removed, one from a user is kept`() async throws {
        let scene = try await VerdictScene()
        let (alice, bob) = (try scene.certificate("alice"), try scene.certificate("bob"))
        try await scene.home.change("UPDATE recipient SET source = 'harvest', trust = 'chain'")
        let der = "(SELECT der FROM certificate WHERE fingerprint = x'\(bob.fingerprint.hexadecimal)')"
        let isAlice = "fingerprint = x'\(alice.fingerprint.hexadecimal)'"
        try await scene.home.change("UPDATE certificate SET der = \(der) WHERE \(isAlice)")
        let findings = try await scene.store.check()
        #expect(findings.map(\.code) == [.fingerprint] && findings.map(\.level) == [.warning], "\(findings)")
        let isRecipient = "certificate IN (SELECT id FROM certificate WHERE \(isAlice))"
        try await scene.home.change("UPDATE recipient SET trust = 'pinned' WHERE \(isRecipient)")
        #expect(try await scene.store.check().map(\.level) == [.error])
        #expect(try await repair(scene).repaired == 0)
        try await scene.home.change("UPDATE recipient SET trust = 'chain' WHERE \(isRecipient)")
        #expect(try await repair(scene).repaired == 1)
        #expect(try await scene.store.check().isEmpty)
    }

    @Test func `columns that lie are found and put right`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("revoking")
        try await scene.home.change(
            "UPDATE certificate SET addresses = 'eve@example.com', issuer_key = x'00' WHERE subject_name LIKE '%alice%'"
        )
        try await scene.home.change("UPDATE crl SET issuer_key = x'00'")
        let findings = try await scene.store.check()
        #expect(findings.map(\.code) == [.columns, .columns])
        #expect(findings.contains { $0.text.hasSuffix("(addresses, issuer_key)") }, "\(findings)")
        #expect(try await repair(scene).repaired == 2)
        #expect(try await scene.store.check().isEmpty)
        let alice = try AddressScope("alice@example.com")
        #expect(
            try await scene.lookup().choices(for: [alice], at: scene.time).choices[0].candidates[0].reason == .revoked
        )
    }

    @Test(.onPostgreSQL) func `on a server a lying column hides no revocation list`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("revoking")
        #expect(try await scene.reasons().kept[0] == "revoked")
        // The columns of Bob's certificate place it in the same group as Alice's certificate. Its real issuer has no list.
        try await scene.home.change(
            """
            UPDATE certificate SET issuer_key = (SELECT issuer_key FROM certificate WHERE subject_name LIKE '%alice%'),
                not_before = 99999999999 WHERE subject_name LIKE '%bob%'; UPDATE smime.change_counter SET number = number + 1
            """
        )
        let bob = try scene.certificate("bob").fingerprint.hexadecimal
        try await learn("alice@example.com", as: "alice@example.com", condition: "fingerprint = x'\(bob)'", in: scene)
        let alice = try AddressScope("alice@example.com")
        let choice = try await scene.lookup().choices(for: [alice], at: scene.time).choices[0]
        #expect(choice.candidates.contains { $0.reason == .revoked } && choice.selected == nil)
    }

    @Test func `a list whose place another one has comes to its place`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("revoking")
        try await scene.home.change("UPDATE crl SET issuer_key = x'00', fetched = 1")
        var batch = ImportBatch()
        batch.fetchedLists = [.init(list: try scene.list("revoking"), issuer: try scene.certificate("ca"))]
        _ = try await scene.store.add(batch, at: scene.time)
        #expect(try await scene.store.check().isEmpty)
        #expect(try await scene.home.number("SELECT count(*) FROM crl") == 1)
    }
}
