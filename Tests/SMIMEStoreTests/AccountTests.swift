import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import TestSupport
import Testing

@Suite struct AccountTests {
    @Test func `the newest valid identity signs, the old ones still decrypt`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice-old", "alice", "alice-renewed"), at: .judged)
        let address = try EmailAddress("Alice@EXAMPLE.com")
        let signer = try await store.accounts.signingIdentity(for: address, at: .judged)
        #expect(signer.certificate == (try Certificate(fixture: "alice-renewed/cert.pem")))
        let old = try Certificate(fixture: "alice-old/cert.pem")
        let own = try await store.accounts.decryptionKey(matching: [
            .issuerAndSerial(issuer: old.issuer.der, serialNumber: old.serialNumber)
        ])
        #expect(own?.certificate == old)
        #expect(try #require(own).key.belongs(to: old))
    }

    @Test func `two certificates with one key identifier are both found`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice")
        let reissued = try Certificate(fixture: "alice-reissued/cert.pem")
        batch.identities.append(
            .init(
                Identity(unchecked: reissued, try TestIdentity("alice").key),
                accounts: reissued.emailAddresses,
                isAssigned: false
            )
        )
        _ = try await store.add(batch, at: .judged)
        let identifier = try #require(reissued.subjectKeyIdentifier)
        let found = try await store.accounts.certificates(matching: [.subjectKeyIdentifier(identifier)])
        #expect(Set(found) == [reissued, try Certificate(fixture: "alice/cert.pem")])
        let again = try await store.accounts.certificates(
            matching: Array(repeating: .subjectKeyIdentifier(identifier), count: 1000)
        )
        #expect(again == found)
    }

    @Test func `a RecipientInfo of another key finds no key`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        let own = try await store.accounts.decryptionKey(matching: [
            .subjectKeyIdentifier([1, 2, 3]), .issuerAndSerial(issuer: [], serialNumber: []),
        ])
        #expect(own == nil)
    }

    @Test func `an unknown account is distinguished from one that cannot sign`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice-old", "encrypt-only"), at: .judged)
        let unknown = try EmailAddress("nobody@example.com")
        await #expect(throws: KeystoreError.unknownAccount(unknown)) {
            try await store.accounts.signingIdentity(for: unknown, at: .judged)
        }
        let expired = try EmailAddress("alice@example.com")
        await #expect(throws: KeystoreError.noUsableIdentity(expired, why: "for signing: 1 expired")) {
            try await store.accounts.signingIdentity(for: expired, at: .judged)
        }
        let other = try EmailAddress("encrypt-only@example.com")
        await #expect(
            throws: KeystoreError.noUsableIdentity(
                other,
                why: "for signing: 1 with a certificate that does not allow it"
            )
        ) {
            try await store.accounts.signingIdentity(for: other, at: .judged)
        }
        #expect(
            try await store.accounts.identity(for: other, purpose: .encryption, at: .judged).certificate
                == (try Certificate(fixture: "encrypt-only/cert.pem"))
        )
    }

    @Test func `an identity is found by fingerprint`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        let fingerprint = try Certificate(fixture: "alice/cert.pem").fingerprint
        #expect(try await store.accounts.identity(fingerprint).certificate.fingerprint == fingerprint)
        let other = try Certificate(fixture: "bob/cert.pem").fingerprint
        await #expect(throws: KeystoreError.unknownCertificate(other)) { try await store.accounts.identity(other) }
    }

    @Test func `the chain above a certificate leaves out the root`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice")
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        for number in 1...6 { batch.intermediates.append(try Certificate(fixture: "long-chain/ca\(number).pem")) }
        _ = try await store.add(batch, at: .judged)
        #expect(
            try await store.anchors.chain(above: Certificate(fixture: "alice/cert.pem"))
                == [try Certificate(fixture: "ca/intermediate.pem")]
        )
        #expect(try await store.anchors.chain(above: Certificate(fixture: "long-chain/cert.pem")).count == 6)
        #expect(try await store.anchors.chain(above: Certificate(fixture: "mallory/cert.pem")).isEmpty)
    }

    @Test func `removing a recipient removes all its data`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let bob = try Certificate(fixture: "bob/cert.pem")
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: bob, addresses: bob.recipientScopes)]
        _ = try await store.add(batch, at: .judged)
        let address = try AddressScope("bob@example.com")
        #expect(try await store.recipients.setTrust(.distrusted, of: address) == [bob])
        #expect(try await store.recipients.certificates(for: address).map(\.trust) == [.distrusted])
        #expect(try await store.recipients.remove(address) == [bob])
        await #expect(throws: KeystoreError.unknownRecipient(address)) { try await store.recipients.remove(address) }
        #expect(try await store.add(batch, at: .judged).recipients.map(\.isNew) == [true])
    }

    @Test func `an anchor is removed by fingerprint, and stays an intermediate if it was one`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let intermediate = try Certificate(fixture: "ca/intermediate.pem")
        var batch = try ImportBatch.people("alice")
        batch.anchors = [intermediate]
        _ = try await store.add(batch, at: .judged)
        #expect(try await store.anchors.remove([intermediate.fingerprint]) == [intermediate])
        #expect(try await store.anchors.chain(above: Certificate(fixture: "alice/cert.pem")) == [intermediate])
        await #expect(throws: KeystoreError.unknownCertificate(intermediate.fingerprint)) {
            try await store.anchors.remove([intermediate.fingerprint])
        }
    }
}
