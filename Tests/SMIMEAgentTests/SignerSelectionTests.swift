import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEAgent
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// The choice of the signing identity.
@Suite struct SignerSelectionTests {
    private func signer(
        _ selection: SignerSelection = SignerSelection(),
        of header: HeaderBlock?,
        isMail: Bool = true,
        in home: TestHome,
        warn: (SignerSelection.Warning) -> Void = { _ in }
    ) async throws -> SignedDataWriter.Signer {
        try await selection.signer(
            for: header,
            isMail: isMail,
            in: home.store,
            at: .judged,
            under: ValidationOptions(),
            warn: warn
        )
    }

    @Test func `the author's account signs and includes its chain`() async throws {
        let home = try await TestHome()
        let from = try header("From: alice@example.com")
        let signer = try await signer(of: from, in: home)
        #expect(signer.identity.certificate == (try Certificate(fixture: "alice/cert.pem")))
        #expect(signer.identity.chain == [try Certificate(fixture: "ca/intermediate.pem")])
        let alone = try await self.signer(SignerSelection(sendsChain: false), of: from, in: home)
        #expect(alone.identity.chain.isEmpty)
    }

    @Test func `a signing-only certificate is sent with the encryption certificate`() async throws {
        let home = try await TestHome(of: ["split"])
        let signer = try await signer(of: try header("From: split@example.com"), in: home)
        #expect(signer.identity.encryptionCertificate == (try Certificate(fixture: "split/encrypt-cert.pem")))
    }

    @Test func `mail without exactly one author is not signed`() async throws {
        let home = try await TestHome()
        await #expect { try await signer(of: try header("To: bob@example.com"), in: home) } throws: { error in
            if case AgentError.noAuthor = error { true } else { false }
        }
        let two = try header("From: alice@example.com, bob@example.com", "Sender: alice@example.com")
        await #expect { try await signer(of: two, in: home) } throws: { error in
            if case AgentError.doubtfulAuthor = error { true } else { false }
        }
        await #expect { try await signer(of: nil, isMail: false, in: home) } throws: { error in
            if case AgentError.noSigner = error { true } else { false }
        }
    }

    @Test func `signing as another account than the author's is refused, and fitting accounts are named`() async throws
    {
        let home = try await TestHome(of: ["alice", "carol"])
        let alice = SignerSelection(account: try EmailAddress("alice@example.com"))
        await #expect { try await signer(alice, of: try header("From: carol@example.com"), in: home) } throws: {
            error in
            guard case AgentError.signerNotAuthor(let author, _, let fitting) = error else { return false }
            return "\(author)" == "carol@example.com" && fitting.map(\.text) == ["carol@example.com"]
        }
    }

    @Test func `an account without a valid certificate does not sign`() async throws {
        let home = try await TestHome(of: ["expired"])
        await #expect { try await signer(of: try header("From: expired@example.com"), in: home) } throws: { error in
            guard case AgentError.unusableSigner(.noUsableIdentity, let fitting) = error else { return false }
            return fitting.isEmpty
        }
    }

    @Test func `a certificate assigned by hand signs with a warning`() async throws {
        let home = try await TestHome(of: ["dn-only"], assigned: "desk@example.com")
        var warnings: [SignerSelection.Warning] = []
        let signer = try await signer(of: try header("From: desk@example.com"), in: home) { warnings.append($0) }
        #expect(signer.identity.certificate == (try Certificate(fixture: "dn-only/cert.pem")))
        guard case .assignedToAuthor = try #require(warnings.first) else {
            Issue.record("another warning")
            return
        }
    }

    /// A home with one account, alice with the alias carol, and an identity for each address. Carol's was imported by hand
    /// and is pinned.
    private func sharedHome() async throws -> TestHome {
        let home = try await TestHome()
        let alice = try EmailAddress("alice@example.com")
        let file = try PKCS12(Fixtures.cert("carol/carol.p12"), passphrase: Passphrase("test".utf8))
        var batch = ImportBatch()
        batch.identities = file.identities.map { .init($0, accounts: [alice], isAssigned: true) }
        _ = try await home.store.add(batch, at: .judged)
        var change = AccountChange()
        change.addedAliases = [AddressScope(try EmailAddress("carol@example.com"))]
        change.pin = .identity(try Certificate(fixture: "carol/cert.pem").fingerprint)
        _ = try await home.store.accounts.set(alice, change)
        return home
    }

    @Test(arguments: ["alice", "carol"])
    func `the identity that names From signs, even if another one is pinned`(
        _ author: String
    ) async throws {
        let home = try await sharedHome()
        let from = try header("From: \(author)@example.com")
        let expected = try Certificate(fixture: "\(author)/cert.pem")
        for account in [nil, "alice@example.com", "carol@example.com"] {
            let selection = SignerSelection(account: try account.map { try EmailAddress($0) })
            let signer = try await signer(selection, of: from, in: home) { Issue.record("\($0)") }
            #expect(signer.identity.certificate == expected, "\(account ?? "no account")")
        }
    }

    @Test(arguments: ["alice", "carol"])
    func `the gateway chooses the same signer`(_ author: String) async throws {
        let home = try await sharedHome()
        let author = try EmailAddress("\(author)@example.com")
        for sender in ["alice@example.com", "carol@example.com"] {
            let available = try await available(to: sender, author, in: home)
            let chosen = try await available.signer(in: home.store)?.identity.certificate
            let from = try header("From: \(author)")
            #expect(try await signer(of: from, in: home).identity.certificate == chosen, "\(sender)")
        }
    }

    private func available(
        to sender: String,
        _ author: EmailAddress,
        in home: TestHome
    ) async throws -> SigningAvailability {
        let subaddressing = try await home.store.subaddressing()
        return try await home.store.read { snapshot in
            try SigningAvailability(
                of: EmailAddress(sender),
                for: AuthorReading(listing: [author]),
                subaddressing,
                at: .judged,
                under: ValidationOptions(),
                in: snapshot
            )
        }
    }

    @Test func `without an identity that names From the current one is checked`() async throws {
        let home = try await sharedHome()
        var change = AccountChange()
        change.addedAliases = [AddressScope(try EmailAddress("desk@example.com"))]
        _ = try await home.store.accounts.set(try EmailAddress("alice@example.com"), change)
        var warnings: [SignerSelection.Warning] = []
        let signer = try await signer(of: try header("From: desk@example.com"), in: home) { warnings.append($0) }
        // It is the pinned one, which was imported by hand for the account.
        #expect(signer.identity.certificate == (try Certificate(fixture: "carol/cert.pem")) && warnings.count == 1)
        // A gateway never signs with this identity.
        let desk = try EmailAddress("desk@example.com")
        #expect(try await available(to: "alice@example.com", desk, in: home).signer(in: home.store) == nil)
    }

    @Test func `an explicitly named certificate that cannot sign is refused`() async throws {
        let home = try await TestHome(of: ["encrypt-only", "dana"])
        let reader = SignerSelection(identity: try Certificate(fixture: "encrypt-only/cert.pem").fingerprint)
        await #expect {
            try await signer(reader, of: try header("From: encrypt-only@example.com"), in: home)
        } throws: { error in
            if case AgentError.notForSigning = error { true } else { false }
        }
        let sha256 = SignerSelection(digest: .sha256)
        await #expect { try await signer(sha256, of: try header("From: dana@example.com"), in: home) } throws: {
            error in
            "\(error)" == "the key, Ed25519, signs with sha512 only"
        }
    }
}
