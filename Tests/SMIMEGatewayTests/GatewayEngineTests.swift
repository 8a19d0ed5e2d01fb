import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// A mail through the engine, in both roles and with every outcome.
@Suite struct GatewayEngineTests {
    private static let mail = Array("From: alice@example.com\nTo: bob@example.com\n\nMeet me at eight.\n".utf8)
    private static let host = HostName("gw.test").map { MailHost(name: $0) }

    private func engine(
        _ office: TestHome,
        _ change: (inout GatewayEngine.Options) -> Void = { _ in }
    ) -> GatewayEngine {
        var options = GatewayEngine.Options()
        options.systemAnchors = false
        options.host = Self.host
        change(&options)
        return GatewayEngine(office.store, options)
    }

    private func outgoing(
        _ bytes: [UInt8] = mail,
        from sender: String = "alice@example.com",
        to recipients: [String] = ["bob@example.com"],
        queueID: String? = nil
    ) throws -> GatewayMail {
        let source = MemorySource(bytes)
        let entry = try queueID.map { try DeliveryJournal.Entry(queueID: $0, of: source) }
        return GatewayMail(.outgoing, source, from: EnvelopeSender(sender), to: recipients, entry: entry)
    }

    private func incoming(_ bytes: [UInt8], to recipients: [String]) -> GatewayMail {
        GatewayMail(.incoming, MemorySource(bytes), from: EnvelopeSender("alice@example.com"), to: recipients)
    }

    @Test func `outgoing mail is signed and encrypted, and incoming mail verified, decrypted and learned from`()
        async throws
    {
        let (alice, bob) = (try await TestHome.office(), try await TestHome.office(of: ["bob"], knowing: []))
        let result = await engine(alice).handle(try outgoing())
        let processed = try result.get()
        let form = try #require(processed.delivery.messages.first)
        #expect(processed.delivery.messages.count == 1 && form.recipients == ["bob@example.com"])
        #expect(processed.delivery.sender == "alice@example.com" && form.sender == nil)
        #expect(
            result.record.text("actions") == "bob@example.com:sign+encrypt" && result.record.text("recipients") == "1"
        )
        #expect(result.record.text("cipher") == "aes-256-gcm" && result.record.text("rule") != nil)
        #expect(form.content is MemorySource)

        _ = try await bob.store.policy.set(
            .init(.recipient(#require(.init("bob@example.com"))), decryptAtGateway: .yes)
        )
        try await bob.store.settings.set("filter.decrypted-sender", to: "bounces@example.com")
        let bytes = try form.content.bytes(in: 0..<form.content.count)
        let engine = engine(bob)
        let received = await engine.handle(incoming(bytes, to: ["bob@example.com", "eve@example.com"]))
        let delivery = try received.get().delivery
        #expect(delivery.messages.map(\.recipients) == [["eve@example.com"], ["bob@example.com"]])
        // A bounce of the decrypted mail must not go to the sender of the encrypted one.
        #expect(delivery.messages.map(\.sender) == [nil, "bounces@example.com"])
        #expect(received.record.text("verdict") == "valid" && received.record.text("signer") == "alice@example.com")
        #expect(received.record.text("actions") == "eve@example.com:delivered,bob@example.com:decrypted")
        #expect(await engine.hasNews(try received.get()))
        let learned = await engine.learn(from: try #require(received.get().learnable))
        #expect(learned.warning == nil && learned.record.text("learned") == "learned")
        #expect(await engine.keepAnswers(of: try received.get()) == [])
        let again = await engine.handle(incoming(bytes, to: ["bob@example.com"]))
        #expect(await engine.hasNews(try again.get()) == false)
    }

    @Test(arguments: [64 << 10, 100])
    func `a written message stays in memory up to the limit, and beyond it in an unnamed file`(_ limit: Int)
        async throws
    {
        let office = try await TestHome.office()
        let result = await engine(office) { $0.memoryLimit = limit }.handle(try outgoing())
        let content = try #require(try result.get().delivery.messages.first).content
        #expect(content.count > 100 && (content is MemorySource) == (limit > 100))
        let file = try SpooledFile(of: content)
        #expect(try file.rewound().bytes(in: 0..<content.count) == content.bytes(in: 0..<content.count))
    }

    @Test func `recipients that have the mail are skipped, and a mail that all have is reported as such`() async throws
    {
        let office = try await TestHome.office()
        let mail = try outgoing(to: ["bob@example.com", "p384@example.com"], queueID: "Q1")
        let entry = try #require(mail.entry)
        try await office.store.journal.record(["bob@example.com"], of: entry, at: .now)
        let result = await engine(office).handle(mail)
        #expect(try result.get().delivery.messages.flatMap(\.recipients) == ["p384@example.com"])
        try await office.store.journal.record(["p384@example.com"], of: entry, at: .now)
        let second = await engine(office).handle(mail)
        guard case .sentBefore = second.outcome else {
            Issue.record("\(second.outcome)")
            return
        }
        #expect(second.record.text("actions") == "sent before")
    }

    @Test func `the journal distinguishes mail servers and directions that use the same queue id`() throws {
        let source = MemorySource(Self.mail)
        let entries = try Set([
            DeliveryJournal.Entry(queueID: "Q1", of: source),
            DeliveryJournal.Entry(queueID: "Q1", server: "mx1.test", of: source),
            DeliveryJournal.Entry(queueID: "Q1", server: "mx2.test", of: source),
            DeliveryJournal.Entry(queueID: "Q1", server: "mx2.test", role: .outgoing, of: source),
            DeliveryJournal.Entry(queueID: "Q1", server: "mx2.test", role: .incoming, of: source),
            DeliveryJournal.Entry(queueID: "Q1", of: MemorySource([1])),
        ])
        #expect(entries.count == 6)
        #expect(try DeliveryJournal.Entry(queueID: "Q1", of: source).queueID == "Q1")
    }

    @Test func `a refusal has a code, a sentence for the sender and the configured text`() async throws {
        let office = try await TestHome.office(knowing: [])
        _ = try await office.store.policy.set(.init(.recipient(#require(.init("*@example.com"))), encrypt: .require))
        try await office.store.settings.set("filter.bounce-text", to: "Call the help desk")
        let refusal = try #require(await engine(office).handle(try outgoing()).refusal)
        #expect(refusal.fault == .recipient && refusal.isPermanent && refusal.replyCode == 550)
        #expect(refusal.enhancedCode == "5.7.1" && refusal.sentence.contains("bob@example.com"))
        #expect(refusal.bounceText == "Call the help desk" && refusal.logText == "5.7.1 \(refusal.sentence)")
    }

    @Test func `an invalid envelope is refused before the message is read`() async throws {
        let office = try await TestHome.office()
        for (sender, recipient, code) in [
            ("alice@example.com", "a\u{7}b@x.test", "5.1.3"), ("alice@example.com", "", "5.1.3"),
            ("-oX@example.com", "bob@example.com", "5.1.7"), ("alice@example.com", "no address", "5.1.3"),
        ] {
            let refusal = await engine(office).handle(try outgoing(from: sender, to: [recipient])).refusal
            #expect(refusal?.enhancedCode == code && refusal?.replyCode == 550, "\(sender) \(recipient)")
        }
        let empty = await engine(office).handle(try outgoing([])).refusal
        #expect(empty?.enhancedCode == "5.6.0" && empty?.replyCode == 554)
    }

    /// RFC 5321 §4.1.1.3: every mail server accepts mail for `postmaster` without a domain.
    @Test func `the postmaster without a domain is the one of this host, and keeps the spelling of the envelope`()
        async throws
    {
        let office = try await TestHome.office()
        let recipients = ["bob@example.com", "Postmaster", "postmaster@gw.test"]
        let result = await engine(office).handle(try outgoing(to: recipients))
        let forms = try result.get().delivery.messages
        #expect(forms.count == 2 && Set(forms.flatMap(\.recipients)) == Set(recipients))
        #expect(result.record.text("actions")?.contains("Postmaster@gw.test:sign") == true)
        _ = try await office.store.policy.set(.init(.recipient(#require(.init("gw.test"))), encrypt: .require))
        let refusal = await engine(office).handle(try outgoing(to: recipients)).refusal
        #expect(refusal?.replyCode == 550 && refusal?.sentence.contains("Postmaster@gw.test") == true)
    }

    @Test func `a recipient of a form that only mail servers accept gets the mail, and holds up no other one`()
        async throws
    {
        let office = try await TestHome.office()
        let long = String(repeating: "a", count: 70)
        let odd = [
            "SRS0=\(long)@x.test", "\"\(long) a\"@x.test", "a..b@x.test", ".a@x.test", "x@x.test.",
            "bob+\(long)@y.test", "bob+\(long)%y.test@relay.test", "bob%y.test.@relay.test",
        ]
        let mail = try outgoing(to: ["bob@example.com", "bob@example.com."] + odd)
        let forms = try await engine(office).handle(mail).get().delivery.messages
        #expect(forms.map(\.recipients) == [odd, ["bob@example.com", "bob@example.com."]])
        let bounce = try await engine(office).handle(try outgoing(from: "", to: odd)).get().delivery.messages
        #expect(bounce.map(\.recipients) == [odd])
        for text in [
            "|sh", "/etc/x", ":include:x", "a b@x.test", "a>b@x.test", "a@b@x.test", "x@x..test", "x@x.test..",
            // Only the mail server knows the domain.
            "root", "bob",
        ] {
            let refusal = await engine(office).handle(try outgoing(to: ["bob@example.com", text])).refusal
            #expect(refusal?.enhancedCode == "5.1.3", "\(text)")
        }
        for (rule, required) in [("x.test", odd[..<5]), ("bob@y.test", odd[5...])] {
            let pattern = try #require(Policy.Pattern(rule))
            _ = try await office.store.policy.set(.init(.recipient(pattern), encrypt: .require))
            for recipient in odd {
                let refusal = await engine(office).handle(try outgoing(to: [recipient])).refusal
                #expect((refusal?.enhancedCode == "5.7.1") == required.contains(recipient), "\(rule) \(recipient)")
            }
            _ = try await office.store.policy.unset(.init(.recipient(pattern)))
        }
        _ = try await office.store.policy.set(.init(.global, encrypt: .require))
        for recipient in odd {
            let refusal = await engine(office).handle(try outgoing(to: ["bob@example.com", recipient])).refusal
            #expect(refusal?.enhancedCode == "5.7.1", "\(recipient)")
        }
    }

    @Test func `mail to a long local part is encrypted with the certificate of its domain`() async throws {
        let office = try await TestHome.office()
        var batch = ImportBatch()
        let bob = try Certificate(fixture: "bob/cert.pem")
        batch.recipients = [
            .init(certificate: bob, addresses: [try AddressScope("@partner.test")], isPinned: true)
        ]
        _ = try await office.store.add(batch, at: .judged)
        _ = try await office.store.policy.set(.init(.global, encrypt: .available))
        let recipient = "SRS0=\(String(repeating: "a", count: 70))@partner.test"
        let forms = try await engine(office).handle(try outgoing(to: [recipient])).get().delivery.messages
        let content = try #require(forms.first?.content)
        let text = String(decoding: try content.bytes(in: 0..<content.count), as: UTF8.self)
        #expect(
            forms.map(\.recipients) == [[recipient]] && text.lowercased().contains("enveloped-data"),
            "\(text.prefix(400))"
        )
    }

    @Test
    func `after a crash outgoing mail is deferred once and then bounces, and incoming mail is delivered unverified`()
        async throws
    {
        let office = try await TestHome.office()
        for queueID in [nil, "Q1"] {
            let mail = try outgoing(queueID: queueID)
            let first = await engine(office).rescue(mail, signal: 4)
            #expect(first.refusal?.replyCode == 451 && first.refusal?.enhancedCode == "4.3.0")
            #expect(first.warnings == ["the gateway crashed while handling this message (signal 4)"])
            let second = await engine(office).rescue(mail, signal: 4).refusal
            #expect(second?.replyCode == 554 && second?.enhancedCode == "5.6.0" && second?.bounceText != nil)
        }
        let forged = Array("Authentication-Results: gw.test; smime=pass\nSubject: hi\n\nbody\n".utf8)
        let result = await engine(office).rescue(incoming(forged, to: ["bob@example.com"]), signal: 11)
        let content = try #require(try result.get().delivery.messages.first).content
        let text = String(decoding: try content.bytes(in: 0..<content.count), as: UTF8.self)
        #expect(text.hasPrefix("Authentication-Results: gw.test; smime=permerror (not processed)\n"))
        #expect(!text.contains("pass") && text.hasSuffix("Subject: hi\n\nbody\n"))
        #expect(result.record.text("verdict") == "permerror")
    }

    @Test func `mail from an own account that requires encryption is not accepted in clear or unverified`() async throws
    {
        let office = try await TestHome.office()
        _ = try await office.store.policy.set(.init(.recipient(#require(.init("bob@example.com"))), encrypt: .require))
        let mail = incoming(Self.mail, to: ["bob@example.com"])
        for refusal in [
            await engine(office).handle(mail).refusal, await engine(office).rescue(mail, signal: 6).refusal,
        ] { #expect(refusal?.replyCode == 554 && refusal?.enhancedCode == "5.7.1") }
    }

    @Test func `a dry run needs no key and delivers nothing`() async throws {
        let office = try await TestHome.office()
        let decisions = try await engine(office).decisions(on: try outgoing()).get()
        #expect(decisions.map(\.action) == [.signAndEncrypt])
        let plan = try await engine(office).verdict(on: incoming(Self.mail, to: ["bob@example.com"])).get()
        #expect(plan.report.status == .unsigned && plan.messages.count == 1)
    }
}

extension GatewayResult {
    /// The refusal; nil for other outcomes.
    fileprivate var refusal: GatewayRefusal? {
        if case .refused(let refusal) = outcome { refusal } else { nil }
    }

    /// The value of a processed mail; throws for other outcomes.
    fileprivate func get() throws -> Value {
        switch outcome {
        case .finished(let value): return value
        case .refused(let refusal): throw refusal
        case .sentBefore: throw CancellationError()
        }
    }
}

extension MailRecord {
    /// The values of the field or detail `key` as one text; nil if there are none.
    fileprivate func text(_ key: String) -> String? {
        (fields + details).first { $0.key == key }?.value.items.joined(separator: ",")
    }
}
