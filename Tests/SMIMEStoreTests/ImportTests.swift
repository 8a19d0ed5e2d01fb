import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct ImportTests {
    private let home: TemporaryHome

    init() throws { home = try TemporaryHome() }

    @Test func `an import stores everything once`() async throws {
        let store = try await home.open()
        let first = try await store.add(try ImportBatch.people("alice", "bob"), at: .judged)
        #expect(first.identities.map(\.address.text) == ["alice@example.com", "bob@example.com"])
        #expect(first.identities.map(\.isNew) == [true, true])
        #expect(first.intermediates.map(\.isNew) == [true])
        #expect(try await store.accounts.all().map(\.address.text) == ["alice@example.com", "bob@example.com"])
        #expect(try await store.anchors.all().isEmpty)
    }

    @Test func `a second import changes nothing`() async throws {
        let store = try await home.open()
        var batch = try ImportBatch.people("alice", "several")
        batch.recipients = [try recipient("bob", isPinned: true)]
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        _ = try await store.add(batch, at: .judged)
        let before = try await snapshot(store)
        let report = try await store.add(batch, at: Date.judged.addingTimeInterval(100_000))
        #expect(report.identities.filter(\.isNew).isEmpty)
        #expect(report.recipients.filter(\.isNew).isEmpty)
        #expect(report.intermediates.filter(\.isNew).isEmpty)
        #expect(report.anchors.filter(\.isNew).isEmpty)
        #expect(try await snapshot(store) == before)
    }

    @Test func `a certificate with three addresses makes three accounts`() async throws {
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("several"), at: .judged)
        #expect(
            try await store.accounts.all().map(\.address.text)
                == ["one@example.com", "three@example.net", "Two@Example.ORG"]
        )
        let account = try await store.accounts.account(for: .init("TWO@example.org"))
        #expect(account.identities.count == 1)
    }

    @Test func `a known certificate can be pinned later`() async throws {
        let store = try await home.open()
        var batch = ImportBatch()
        batch.recipients = [try recipient("bob", isPinned: false)]
        _ = try await store.add(batch, at: .judged)
        batch.recipients = [try recipient("bob", isPinned: true)]
        #expect(try await store.add(batch, at: .judged).recipients.map(\.isNew) == [true])
        #expect(try await store.recipients.certificates(for: .init("bob@example.com")).map(\.trust) == [.pinned])
        batch.recipients = [try recipient("bob", isPinned: false)]
        #expect(try await store.add(batch, at: .judged).recipients.map(\.isNew) == [false])
        #expect(try await store.recipients.certificates(for: .init("bob@example.com")).map(\.trust) == [.pinned])
    }

    @Test(arguments: ["held", "chain"])
    func `a learned certificate is the account's own once its private key is imported`(trust: String) async throws {
        let store = try await home.open()
        let alice = try AddressScope("alice@example.com")
        var batch = ImportBatch()
        batch.recipients = [try recipient("alice", isPinned: false)]
        _ = try await store.add(batch, at: .judged)
        try await home.change("UPDATE recipient SET source = 'harvest', trust = '\(trust)'")
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        let known = try await store.recipients.certificates(for: alice)
        #expect(known.map(\.source) == [.identity] && known.map(\.trust) == [.chain])
        // Without the private key, mail encrypted to the certificate could no longer be read.
        _ = try await store.accounts.remove(EmailAddress("alice@example.com"))
        #expect(try await store.recipients.certificates(for: alice).isEmpty)
    }

    @Test func `a decision about a certificate stays when its private key is imported`() async throws {
        let store = try await home.open()
        let alice = try AddressScope("alice@example.com")
        var batch = ImportBatch()
        batch.recipients = [try recipient("alice", isPinned: false)]
        _ = try await store.add(batch, at: .judged)
        try await home.change("UPDATE recipient SET source = 'harvest', trust = 'distrusted'")
        for _ in 0..<2 {
            _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
            #expect(try await store.recipients.certificates(for: alice).map(\.trust) == [.distrusted])
            _ = try await store.accounts.remove(EmailAddress("alice@example.com"))
        }
    }

    @Test func `stored keys are read again and match their certificates`() async throws {
        _ = try await home.open().add(try ImportBatch.people("alice", "bob"), at: .judged)
        let store = try await home.open(.readOnly)
        for name in ["alice", "bob"] {
            let identity = try await store.accounts.signingIdentity(for: .init("\(name)@example.com"), at: .judged)
            #expect(identity.certificate == (try Certificate(fixture: "\(name)/cert.pem")))
            #expect(identity.key.belongs(to: identity.certificate))
        }
    }

    @Test func `a key is not stored with a certificate for another key`() async throws {
        let store = try await home.open()
        let (certificate, address) = (try Certificate(fixture: "p384/cert.pem"), try EmailAddress("p384@example.com"))
        var batch = try ImportBatch.people("alice")
        batch.identities.append(
            .init(Identity(unchecked: certificate, try TestIdentity("bob").key), accounts: [address], isAssigned: false)
        )
        let mixed = batch
        await #expect(throws: KeystoreError.unmatchedKey(certificate.fingerprint)) {
            try await store.add(mixed, at: .judged)
        }
        #expect(try await store.accounts.all().isEmpty)
        #expect(try await store.check().isEmpty)
    }

    @Test func `a key without an account is refused, and nothing is stored`() async throws {
        let store = try await home.open()
        let certificate = try Certificate(fixture: "bob/cert.pem")
        var batch = try ImportBatch.people("alice")
        batch.identities.append(
            .init(Identity(unchecked: certificate, try TestIdentity("bob").key), accounts: [], isAssigned: true)
        )
        let homeless = batch
        await #expect(throws: KeystoreError.noAccount(certificate.fingerprint)) {
            try await store.add(homeless, at: .judged)
        }
        #expect(try await store.accounts.all().isEmpty)
        #expect(try await store.check().isEmpty)
    }

    @Test func `a certificate without an address is refused, and nothing is stored`() async throws {
        let store = try await home.open()
        let certificate = try Certificate(fixture: "bob/cert.pem")
        var batch = try ImportBatch.people("alice")
        batch.recipients.append(.init(certificate: certificate, addresses: []))
        let homeless = batch
        await #expect(throws: KeystoreError.noAddress(certificate.fingerprint)) {
            try await store.add(homeless, at: .judged)
        }
        #expect(try await store.accounts.all().isEmpty)
        #expect(try await store.check().isEmpty)
    }

    @Test(.onSQLite) func `no private key is stored in plain`() async throws {
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await store.close()
        let key = try TestIdentity("alice").key.withPKCS8 { Array($0) }
        for file in ["data/smime.sqlite", "key/store.key"] {
            let data = try Data(contentsOf: URL(filePath: "\(home.path)/\(file)"))
            #expect(data.range(of: Data(key.suffix(64))) == nil)
            #expect(data.range(of: Data(key.dropFirst(300).prefix(32))) == nil)
        }
    }

    @Test(.onSQLite) func `a moved home works`() async throws {
        let moved = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await store.close()
        try FileManager.default.moveItem(atPath: home.path, toPath: moved.path)
        _ = try await moved.open(.readOnly).accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
    }

    @Test func `sixteen simultaneous writers succeed on a new store`() async throws {
        let location = home.location
        let names = ["alice", "bob", "several", "alice-old"]
        try await home.prepare()
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask {
                    let store = try await Store.open(location, mode: .readWrite)
                    _ = try await store.add(try ImportBatch.people(names[number % 4]), at: .judged)
                }
            }
            try await group.waitForAll()
        }
        let accounts = try await home.open(.readOnly).accounts.all()
        #expect(accounts.map(\.identities.count) == [2, 1, 1, 1, 1])
    }

    @Test func `a reader does not wait for a writer and sees only whole imports`() async throws {
        try await home.open().close()
        let location = home.location
        let writer = Task {
            let store = try await Store.open(location, mode: .readWrite)
            for name in ["alice", "bob", "several"] {
                _ = try await store.add(try ImportBatch.people(name), at: .judged)
            }
        }
        let counts: Set = [0, 1, 2, 5]
        for _ in 0..<50 {
            let store = try await Store.open(location, mode: .readOnly)
            #expect(counts.contains(try await store.accounts.all().count))
        }
        try await writer.value
    }

    private func recipient(_ name: String, isPinned: Bool) throws -> ImportBatch.RecipientItem {
        let certificate = try Certificate(fixture: "\(name)/cert.pem")
        return .init(certificate: certificate, addresses: certificate.recipientScopes, isPinned: isPinned)
    }

    /// Everything in the store that might have changed.
    private func snapshot(_ store: Store) async throws -> [String] {
        let accounts = try await store.accounts.all().flatMap { account in
            [account.address.text] + account.identities.map { "\($0.certificate.fingerprint) \($0.added)" }
        }
        let recipients = try await store.recipients.all().map {
            "\($0.address) \($0.certificate.fingerprint) \($0.source) \($0.firstSeen) \($0.lastSeen) \($0.trust)"
        }
        return accounts + recipients
            + (try await store.anchors.all().map { "\($0.certificate.fingerprint) \($0.added)" })
    }
}
