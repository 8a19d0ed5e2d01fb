import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import Testing

@Suite struct AccountTests {
    @Test func `the newest valid identity signs, the old ones still decrypt`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try Certs.batch("alice-old", "alice", "alice-renewed"), at: Certs.time)
        let address = try EmailAddress("Alice@EXAMPLE.com")
        let signer = try await store.accounts.signingIdentity(for: address, at: Certs.time)
        #expect(signer.certificate == (try Certs.certificate("alice-renewed")))
        let old = try Certs.certificate("alice-old")
        let own = try await store.accounts.decryptionKey(matching: [
            .issuerAndSerial(issuer: old.issuer.der, serialNumber: old.serialNumber)
        ])
        #expect(own?.certificate == old)
        #expect(try #require(own).key.belongs(to: old))
    }

    @Test func `two certificates with one key identifier are both found`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var batch = try Certs.batch("alice")
        let reissued = try Certs.certificate("alice-reissued")
        batch.identities.append(
            .init(
                Identity(unchecked: reissued, try Certs.key("alice")),
                accounts: reissued.emailAddresses,
                isAssigned: false
            )
        )
        _ = try await store.add(batch, at: Certs.time)
        let identifier = try #require(reissued.subjectKeyIdentifier)
        let found = try await store.accounts.certificates(matching: [.subjectKeyIdentifier(identifier)])
        #expect(Set(found) == [reissued, try Certs.certificate("alice")])
        let again = try await store.accounts.certificates(
            matching: Array(repeating: .subjectKeyIdentifier(identifier), count: 1000)
        )
        #expect(again == found)
    }

    @Test func `nobody's RecipientInfo gives no key`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try Certs.batch("alice"), at: Certs.time)
        let own = try await store.accounts.decryptionKey(matching: [
            .subjectKeyIdentifier([1, 2, 3]), .issuerAndSerial(issuer: [], serialNumber: []),
        ])
        #expect(own == nil)
    }

    @Test func `an unknown account is told apart from one that cannot sign`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try Certs.batch("alice-old", "encrypt-only"), at: Certs.time)
        let unknown = try EmailAddress("nobody@example.com")
        await #expect(throws: KeystoreError.unknownAccount(unknown)) {
            try await store.accounts.signingIdentity(for: unknown, at: Certs.time)
        }
        let expired = try EmailAddress("alice@example.com")
        await #expect(throws: KeystoreError.noUsableIdentity(expired, why: "for signing: 1 expired")) {
            try await store.accounts.signingIdentity(for: expired, at: Certs.time)
        }
        let other = try EmailAddress("encrypt-only@example.com")
        await #expect(
            throws: KeystoreError.noUsableIdentity(
                other,
                why: "for signing: 1 with a certificate that does not allow it"
            )
        ) {
            try await store.accounts.signingIdentity(for: other, at: Certs.time)
        }
        #expect(
            try await store.accounts.identity(for: other, purpose: .encryption, at: Certs.time).certificate
                == (try Certs.certificate("encrypt-only"))
        )
    }

    @Test func `an identity is found by fingerprint`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try Certs.batch("alice"), at: Certs.time)
        let fingerprint = try Certs.certificate("alice").fingerprint
        #expect(try await store.accounts.identity(fingerprint).certificate.fingerprint == fingerprint)
        let other = try Certs.certificate("bob").fingerprint
        await #expect(throws: KeystoreError.unknownCertificate(other)) { try await store.accounts.identity(other) }
    }

    @Test func `the chain above a certificate leads up without the root`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var batch = try Certs.batch("alice")
        batch.anchors = [try Certs.certificate("ca", file: "root.pem")]
        for number in 1...6 { batch.intermediates.append(try Certs.certificate("long-chain", file: "ca\(number).pem")) }
        _ = try await store.add(batch, at: Certs.time)
        #expect(
            try await store.anchors.chain(above: Certs.certificate("alice"))
                == [try Certs.certificate("ca", file: "intermediate.pem")]
        )
        #expect(try await store.anchors.chain(above: Certs.certificate("long-chain")).count == 6)
        #expect(try await store.anchors.chain(above: Certs.certificate("mallory")).isEmpty)
    }

    @Test func `a recipient that is removed leaves nothing behind`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let bob = try Certs.certificate("bob")
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: bob, addresses: bob.recipientScopes)]
        _ = try await store.add(batch, at: Certs.time)
        let address = try AddressScope("bob@example.com")
        #expect(try await store.recipients.setTrust(.distrusted, of: address) == [bob])
        #expect(try await store.recipients.certificates(for: address).map(\.trust) == [.distrusted])
        #expect(try await store.recipients.remove(address) == [bob])
        await #expect(throws: KeystoreError.unknownRecipient(address)) { try await store.recipients.remove(address) }
        #expect(try await store.add(batch, at: Certs.time).recipients.map(\.isNew) == [true])
    }

    @Test func `an anchor is removed by fingerprint, and stays an intermediate if it was one`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let intermediate = try Certs.certificate("ca", file: "intermediate.pem")
        var batch = try Certs.batch("alice")
        batch.anchors = [intermediate]
        _ = try await store.add(batch, at: Certs.time)
        #expect(try await store.anchors.remove([intermediate.fingerprint]) == [intermediate])
        #expect(try await store.anchors.chain(above: Certs.certificate("alice")) == [intermediate])
        await #expect(throws: KeystoreError.unknownCertificate(intermediate.fingerprint)) {
            try await store.anchors.remove([intermediate.fingerprint])
        }
    }
}
