import Foundation
import SMIMEAgent
import TestSupport
import Testing

/// The examples of docs/library.md for a store, compiled and run.
@Suite struct OpeningExampleTests {
    private static let text = "From: alice@example.com\nTo: bob@example.com\nBcc: alice@example.com\n\nGood morning\n"

    @Test func `the examples for a store work`() async throws {
        let (alice, bob) = (try await TestHome.office(), try await TestHome.office(of: ["bob"]))
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        var paths: [String] = []
        try await send(Message(Self.text.utf8), with: alice.store) { message, recipients in
            let path = folder.appending(path: "\(recipients.map(\.text).joined()).eml").path
            try await message.write(to: path)
            paths.append(path)
        }
        #expect(paths.map { ($0 as NSString).lastPathComponent } == ["bob@example.com.eml", "alice@example.com.eml"])
        let target = folder.appending(path: "plain.eml").path
        let report = try await open(paths[0], with: bob.store, into: target)
        #expect(report.status == .valid, "\(report.signers.flatMap(\.problems))")
        let plain = try String(contentsOfFile: target, encoding: .utf8)
        #expect(plain.contains("Good morning") && !plain.contains("Bcc"))
        #expect(try await bob.store.allRecipients().contains { $0.address.text == "alice@example.com" })
        let signed = folder.appending(path: "signed.eml").path
        try await alice.store.protect(Message(Self.text.utf8), encrypting: false)[0].message.write(to: signed)
        // These are more files than the example opens at once.
        let copies = (1...20).map { folder.appending(path: "\($0).eml").path }
        for copy in copies { try FileManager.default.copyItem(atPath: signed, toPath: copy) }
        let found = try await verdicts(on: [paths[0], signed] + copies, with: bob.store)
        #expect(found.count == 22 && found.values.allSatisfy { $0 == .valid })
        let stranger = await #expect(throws: SMIMEError.self) { try await verdicts(on: [paths[1]], with: bob.store) }
        #expect(stranger?.code == .notForUs)
    }

    @Test func `mail that cannot be encrypted is refused with the recipient's address`() async throws {
        let alice = try await TestHome.office()
        let mail = try Message("From: alice@example.com\nTo: nobody@example.com\n\nHello\n".utf8)
        let error = await #expect(throws: SMIMEError.self) { try await alice.store.protect(mail) }
        #expect(error?.code == .unusableRecipient && error?.kind == .recipient)
        #expect(error?.description.contains("nobody@example.com") == true)
        let stranger = try Message("From: eve@example.com\nTo: bob@example.com\n\nHello\n".utf8)
        let other = await #expect(throws: SMIMEError.self) { try await alice.store.protect(stranger) }
        #expect(other?.code == .unusableSigner)
    }

    @Test func `a store is filled and queried through the public interface`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.file("store").path
        let store = try await Store.open(folder)
        let report = try await store.add(Fixtures.cert("alice/alice.p12"), passphrase: "test")
        #expect(report.hasContent)
        _ = try await store.add(Fixtures.cert("ca/root.pem"), trusting: true)
        _ = try await store.add(Fixtures.cert("bob/cert.pem"))
        #expect(try await store.allAccounts().map(\.address.text) == ["alice@example.com"])
        #expect(try await store.allAnchors() == [Certificate(Fixtures.cert("ca/root.pem"))])
        #expect(
            try await store.recipient(EmailAddress("bob@example.com")) == Certificate(Fixtures.cert("bob/cert.pem"))
        )
        let header = try Message("From: alice@example.com\n\nx\n".utf8).header
        #expect(try await store.signer(for: header).certificate.emailAddresses.map(\.text) == ["alice@example.com"])
        let wrong = await #expect(throws: SMIMEError.self) {
            try await store.add(Fixtures.cert("bob/bob.p12"), passphrase: "no")
        }
        #expect(wrong?.code == .wrongPassphrase)
        // A mail is not a file with keys: certificates are learned from it by `learn`, so `import` reports an error.
        let mail = await #expect(throws: SMIMEError.self) {
            try await store.add(
                Message("From: alice@example.com\n\nx\n".utf8).signed(by: store.signer(for: header)).bytes()
            )
        }
        #expect(mail?.code == .malformed)
        try await store.finish()
        let closed = await #expect(throws: SMIMEError.self) { try await store.allAccounts() }
        #expect(closed?.kind == .bug)
    }

    @Test func `the example prepares a store`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "smime-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let certs = Fixtures.root.appending(path: "certs").path
        let domain = try #require(Policy.Pattern("example.com"))
        let store = try await prepare(
            folder,
            key: "\(certs)/alice/alice.p12",
            authority: "\(certs)/ca/root.pem",
            domain: domain
        )
        #expect(try await store.allRules() == [Policy.Rule(.recipient(domain), encrypt: .require)])
        #expect(try await store.setting("encryption.floor") == "aes-128-gcm")
        #expect(try await store.allAccounts().count == 1)
        let anchors = try await store.allAnchors()
        #expect(anchors == [try Certificate(contentsOf: "\(certs)/ca/root.pem")])
    }

    @Test func `the examples in docs/library.md are the compiled ones`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/library.md"), encoding: .utf8)
        let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let examples = page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(examples.count == 7)
        for example in examples where !example.contains("gateway: Gateway") {
            #expect(own.contains(example), "\(example)")
        }
    }
}

/// Writes the content of a mail into a file, which appears only after everything was checked. Returns the verdict.
func open(_ path: String, with store: Store, into target: String) async throws -> VerificationReport {
    let opened = try await Message(contentsOf: path).opened(with: store)
    try await opened.write(to: target)
    // Certificates are learned from valid mail only.
    _ = try await store.learn(from: opened)
    return opened.report
}

/// A store with a key, an authority, and a rule to encrypt all mail to a domain.
func prepare(_ folder: String, key: String, authority: String, domain: Policy.Pattern) async throws -> Store {
    let store = try await Store.open(folder)
    _ = try await store.add(contentsOf: key, passphrase: "test")
    _ = try await store.add(contentsOf: authority, trusting: true)
    try await store.changeRule(Policy.Rule(.recipient(domain), encrypt: .require))
    try await store.changeSetting("encryption.floor", to: "aes-128-gcm")
    return store
}

/// Signs and encrypts a mail for all its recipients. Throws an error that names the recipients who cannot get it.
func send(_ mail: Message, with store: Store, through send: (Message, [EmailAddress]) async throws -> Void) async throws
{
    for copy in try await store.protect(mail) { try await send(copy.message, copy.recipients) }
}

/// The verdicts on several messages.
func verdicts(on paths: [String], with store: Store) async throws -> [String: VerificationReport.Status] {
    let keys = try await store.keyring()
    return try await withThrowingTaskGroup(of: (String, VerificationReport.Status).self) { group in
        var verdicts: [String: VerificationReport.Status] = [:]
        for (number, path) in paths.enumerated() {
            if number >= 16, let (path, status) = try await group.next() { verdicts[path] = status }
            group.addTask(executorPreference: SMIMEExecutor.shared) {
                (path, try await Message(contentsOf: path).opened(with: keys).report.status)
            }
        }
        return try await group.reduce(into: verdicts) { $0[$1.0] = $1.1 }
    }
}

/// Makes a detached signature and checks it.
func check(_ document: [UInt8], signedBy identity: Identity, trusting root: Certificate) async throws -> Bool {
    let content = CryptographicMessage.Content(document)
    let signature = try CryptographicMessage.sign(content, by: identity)
    var keys = Keyring([], trusting: [root])
    keys.trust.usage = .any
    return try await CryptographicMessage.verify(signature, of: content, with: keys).status == .valid
}
