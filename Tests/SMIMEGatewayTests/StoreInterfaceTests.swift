import Foundation
import SMIMEGateway
import TestSupport
import Testing

/// Filling, changing, checking, copying and restoring a store through the public interface alone.
@Suite final class StoreInterfaceTests {
    private let temporary: TemporaryFolder
    private let folder: String

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.path
    }

    private func file(_ name: String) -> String { Fixtures.root.appending(path: "certs/\(name)").path }

    /// A store with Alice's identity, the authorities, and Bob's certificate.
    private func store() async throws -> Store {
        let store = try await Store.open("\(folder)/store")
        _ = try await store.add(contentsOf: file("alice/alice.p12"), passphrase: "test")
        _ = try await store.add(contentsOf: file("ca/root.pem"), file("ca/intermediate.pem"), trusting: true)
        _ = try await store.add(contentsOf: file("bob/cert.pem"))
        return store
    }

    @Test func `files are imported together: a key finds its certificate, and mail teaches its author's`() async throws
    {
        let store = try await store()
        let report = try await store.add(contentsOf: file("carol/key.pem"), file("carol/cert.pem"))
        #expect(report.identities.map(\.certificate) == [try Certificate(contentsOf: file("carol/cert.pem"))])
        let reader = try await Store.open("\(folder)/reader")
        let header = try Message("From: alice@example.com\n\nx\n".utf8).header
        let mail = "\(folder)/mail.eml"
        try await Message("From: alice@example.com\n\nx\n".utf8).signed(by: store.signer(for: header)).write(to: mail)
        let learned = try await reader.add(contentsOf: mail, file("ca/root.pem"), trusting: true)
        #expect(learned.anchors.count == 1)
        let alice = try Certificate(contentsOf: file("alice/cert.pem"))
        #expect(try await reader.allRecipients().map(\.certificate) == [alice])
        let lonely = await #expect(throws: SMIMEError.self) {
            try await store.add(contentsOf: self.file("bob/key.pem"))
        }
        #expect(lonely?.code == .noKeyPair)
    }

    @Test func `the recipients of a mail are those of each copy, and a message can be encrypted to them`() async throws
    {
        let store = try await store()
        let text = "From: alice@example.com\nTo: bob@example.com\nBcc: alice@example.com\n\nx\n"
        let mail = try Message(text.utf8)
        let copies = try await store.recipients(of: mail.header)
        #expect(copies.map { $0.addresses.map(\.text) } == [["bob@example.com"], ["alice@example.com"]])
        let names = copies.map { Set($0.recipients.compactMap { $0.certificate?.emailAddresses.first?.text }) }
        #expect(names == [["alice@example.com", "bob@example.com"], ["alice@example.com"]])
        let copy = try #require(copies.last)
        #expect(copy.cipher == .aes256GCM)
        let secret = try await mail.encrypted(to: copy.recipients, cipher: copy.cipher).bytes()
        #expect(try await !Message(secret).opened(with: store).bytes().isEmpty)
        let missing = try Message("From: alice@example.com\nTo: erin@example.com\n\nx\n".utf8).header
        let error = await #expect(throws: SMIMEError.self) { try await store.recipients(of: missing) }
        #expect(error?.code == .unusableRecipient)
    }

    @Test(arguments: [true, false])
    func `a copy for several recipients names no Bcc recipient, even without encryption`(signing: Bool) async throws {
        let store = try await store()
        let visible = "From: alice@example.com\nTo: bob@example.com\nSubject: Hello\n"
        let hidden = "bcc: carol@example.com,\n dave@example.com\n"
        let body = "\nBcc: a line of the text\n"
        let copies = try await store.protect(
            Message((visible + hidden + body).utf8),
            signing: signing,
            encrypting: false
        )
        let copy = try #require(copies.first)
        #expect(copies.count == 1)
        #expect(copy.recipients.map(\.text) == ["bob@example.com", "carol@example.com", "dave@example.com"])
        let written = try await String(decoding: copy.message.bytes(), as: UTF8.self)
        for name in ["carol", "dave"] { #expect(!written.contains(name), "\(written)") }
        #expect(written.contains(body))
        if !signing { #expect(written == visible + body) }
        // A resent message goes to the recipients of the resending (RFC 5322 §3.6.6).
        let resent = "Resent-To: frank@example.com\nResent-Bcc: erin@example.com\n" + visible + hidden + body
        let other = try await store.protect(Message(resent.utf8), signing: signing, encrypting: false)
        #expect(other.first?.recipients.map(\.text) == ["frank@example.com", "erin@example.com"])
        let text = try await String(decoding: #require(other.first).message.bytes(), as: UTF8.self)
        for name in ["carol", "dave", "erin"] { #expect(!text.contains(name), "\(text)") }
    }

    @Test func `every function of a key provider throws SMIMEError for a store`() async throws {
        let store = try await store()
        let alice = try Certificate(contentsOf: file("alice/cert.pem"))
        let names = [EntityIdentifier(alice)]
        #expect(try await store.identity(for: names)?.certificate == alice)
        try await store.finish()
        func check(_ call: @escaping @Sendable () async throws -> Void) async {
            let error = await #expect(throws: SMIMEError.self) { try await call() }
            #expect(error?.kind == .bug)
        }
        await check { _ = try await store.identity(for: names) }
        await check { _ = try await store.certificates(for: names) }
        await check { _ = try await store.trust(for: [alice]) }
        await check { _ = try await store.exceptions() }
    }

    @Test func `a store that was opened for reading learns nothing new`() async throws {
        let reader = try await Store.open("\(folder)/reader")
        _ = try await reader.add(contentsOf: file("ca/root.pem"), trusting: true)
        let text = "From: alice@example.com\n\nx\n"
        let mail = try Message(text.utf8)
        let opened = try await mail.signed(by: store().signer(for: mail.header)).opened(with: reader)
        let looking = try await Store.open("\(folder)/reader", mode: .readOnly)
        let error = await #expect(throws: SMIMEError.self) { try await looking.learn(from: opened) }
        #expect(error?.code == .storeReadOnly)
        #expect(try await reader.learn(from: opened).entries.map(\.kind) == [.learned])
        #expect(try await looking.learn(from: opened).entries.isEmpty)
    }

    @Test func `a new key replaces that of an account only if it is trusted or the account is named`() async throws {
        let store = try await Store.open("\(folder)/own")
        let alice = try EmailAddress("alice@example.com")
        _ = try await store.add(contentsOf: file("alice/alice.p12"), passphrase: "test")
        let path = file("alice-renewed/alice-renewed.p12")
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let errors = [
            await #expect(throws: SMIMEError.self) { try await store.add(bytes, passphrase: "test") },
            await #expect(throws: SMIMEError.self) { try await store.add(contentsOf: path, passphrase: "test") },
        ]
        #expect(errors.map { $0?.code } == [.unconfirmedKey, .unconfirmedKey])
        #expect(try await store.allAccounts().map(\.identities.count) == [1])
        _ = try await store.add(bytes, passphrase: "test", for: alice)
        #expect(try await store.allAccounts().map(\.identities.count) == [2])
    }

    @Test func `changed settings, rules and distrust apply at once`() async throws {
        let store = try await store()
        let bob = try EmailAddress("bob@example.com")
        let mail = try Message("From: alice@example.com\nTo: bob@example.com\n\nx\n".utf8)
        #expect(try await store.setting("encryption.unknown") == "aes-256-gcm")
        try await store.changeSetting("encryption.unknown", to: "aes-128-gcm")
        #expect(try await store.setting("encryption.unknown") == "aes-128-gcm")
        try await store.changeSetting("encryption.unknown", to: nil)
        #expect(try await store.setting("encryption.unknown") == "aes-256-gcm")
        for (name, value) in [("no.such", "on"), ("filter.tags", "perhaps")] {
            let error = await #expect(throws: SMIMEError.self) { try await store.changeSetting(name, to: value) }
            #expect(error?.code == .unusableSetting, "\(name)")
        }

        let gateway = try await Gateway(store)
        func encrypts() async throws -> [Policy.Level?] {
            try await gateway.explain(mail, from: EnvelopeSender("alice@example.com"), to: [bob]).map(\.encrypt)
        }
        #expect(try await encrypts() == [.available])
        let scope = Policy.Scope.recipient(try #require(Policy.Pattern("*@example.com")))
        let rule = try await store.changeRule(Policy.Rule(scope, encrypt: .require))
        #expect(try await store.allRules() == [rule])
        #expect(try await encrypts() == [.require])
        #expect(try await store.removeRule(for: scope) == rule)
        #expect(try await store.removeRule(for: scope) == nil)
        #expect(try await store.allRules().isEmpty)
        #expect(Policy.Pattern("no pattern") == nil)

        let certificate = try Certificate(contentsOf: file("bob/cert.pem"))
        #expect(try await store.recipient(bob) == certificate)
        try await store.changeTrust(in: certificate, of: bob, to: .distrusted)
        #expect(try await store.recipient(bob) == nil)
        try await store.changeTrust(in: certificate, of: bob, to: .chain)
        #expect(try await store.recipient(bob) == certificate)
        let stranger = try Certificate(contentsOf: file("carol/cert.pem"))
        let error = await #expect(throws: SMIMEError.self) {
            try await store.changeTrust(in: stranger, of: bob, to: .pinned)
        }
        #expect(error?.code == .unknownCertificate)
    }

    @Test func `a store is checked, copied and restored with one call each`() async throws {
        let store = try await store()
        let bob = try EmailAddress("bob@example.com")
        try await store.backUp(to: "\(folder)/copy.sqlite")
        try await store.changeTrust(
            in: Certificate(contentsOf: file("bob/cert.pem")),
            of: bob,
            to: .distrusted
        )
        try await store.finish()
        let check = try await Store.check("\(folder)/store", cleaning: .unused)
        #expect(check.findings.isEmpty && check.ended.isEmpty, "\(check)")
        let restored = try await Store.restore("\(folder)/store", from: "\(folder)/copy.sqlite")
        #expect(!restored.needsKeyFile && restored.kept != nil)
        let again = try await Store.open("\(folder)/store")
        #expect(try await again.recipient(bob) != nil)
        try await again.finish()

        for (path, code) in [(file("bob/cert.pem"), SMIMEError.Code.malformed), (folder, .malformed)] {
            let error = await #expect(throws: SMIMEError.self) {
                try await Store.restore("\(self.folder)/store", from: path)
            }
            #expect(error?.code == code, "\(path): \(String(describing: error))")
        }
        let missing = await #expect(throws: SMIMEError.self) { try await Store.check("\(self.folder)/none") }
        #expect(missing?.code == .storeUnusable)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/store")
        let open = try await Store.check("\(folder)/store")
        #expect(open.findings.map(\.level).contains(.error))
    }
}
