import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// Real mail with `require`, in all situations in which it might leave in clear.
@Suite struct RequiredMailTests {
    private static let secret = "Meet me at eight."

    /// All bytes that the filter sends; empty if it sends nothing.
    private func sent(_ office: TestHome, _ mail: String, from sender: String, to recipients: [String]) async throws
        -> [String]
    {
        let filter = OutgoingFilter(store: office.store, time: Date.judged, systemAnchors: false)
        let plan = try await filter.plan(
            MemorySource(Array(mail.utf8)),
            from: EnvelopeSender(sender),
            to: recipients.map { try EmailAddress($0) }
        )
        do { try plan.checkSendable() } catch { return [] }
        return try plan.messages.indices.map { String(decoding: try plan.source($0).bytes(), as: UTF8.self) }
    }

    private static let senders = [
        "alice@example.com", "ALICE@example.com", "alice+tag@example.com", "", "MAILER-DAEMON", "root",
        "web@example.net",
        "a..b@example.com",
    ]
    private static let recipients = [
        "bob@example.com", "BOB@EXAMPLE.com", "bob+x@example.com", "\"bob\"@example.com", "\"bob+a b\"@example.com",
        "bob%example.com@relay.test", "example.com!bob@relay.test", "\"bob@example.com\"@relay.test", "eve@example.com",
        "p384@example.com",
    ]
    private static let froms = [
        "From: alice@example.com\n", "From: Eve <eve@x.test>\nFrom: alice@example.com\n",
        "From: alice@example.com, eve@x.test\n", "From: friends: alice@example.com;\n", "From: web@example.net\n", "",
    ]
    private static let fields = [
        "X-SMIME: encrypt=never; sign=never\n", "List-Id: <list.example.com>\n",
        "List-Unsubscribe: <mailto:x@y.test>\n",
        "Precedence: bulk\n", "Auto-Submitted: auto-replied\n", "Subject: [open] Hi\n", "Subject: Re: [open] Hi\n",
        "X-Smime : encrypt=available\n", "Subject: =?utf-8?Q?[open]_x?=\n", "Resent-To: bob@example.com\n",
        "X-SMIME-Filtered: x; count=1\n", "Content-Type: text/plain\n", "Content-Transfer-Encoding: 8bit\n",
    ]

    @Test(.timeLimit(.minutes(60)))
    func `mail under require is never sent in clear or only signed`() async throws {
        let office = try await TestHome.office()
        try await office.store.settings.set("subject-tags", to: "[open] encrypt=never; sign=never")
        let pattern = try #require(Policy.Pattern("example.com"))
        let (strict, none) = (Policy.Override.stricter, Policy.Override.nothing)
        let rules: [Policy.Rule] = [
            Policy.Rule(.recipient(pattern), encrypt: .require),
            Policy.Rule(.recipient(pattern), encrypt: .require, override: none, protected: .resign),
            Policy.Rule(.global, encrypt: .require, override: strict, missing: .deferral),
        ]
        _ = try await office.store.policy.set(Policy.Rule(.kind(.list), encrypt: .never))
        _ = try await office.store.policy.set(Policy.Rule(.kind(.automatic), sign: .never, encrypt: .never))
        _ = try await office.store.policy.set(Policy.Rule(.kind(.bounce), encrypt: .never))
        var (encrypted, kept) = (0, 0)
        for seed in 0..<150 {
            var generator = SeededGenerator(seed)
            let rule = rules[seed % rules.count]
            _ = try await office.store.policy.unset(Policy.Rule(.global))
            _ = try await office.store.policy.unset(Policy.Rule(.recipient(pattern)))
            _ = try await office.store.policy.set(rule)
            let header = (Self.froms.randomElement(using: &generator) ?? "") + "To: bob@example.com\n"
            let count = Int.random(in: 0...3, using: &generator)
            let fields = Self.fields.shuffled(using: &generator).prefix(count).joined()
            let sender = Self.senders.randomElement(using: &generator) ?? ""
            let to = Array(Self.recipients.shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator)))
            let texts = try await sent(office, header + fields + "\n\(Self.secret)\n", from: sender, to: to)
            kept += texts.isEmpty ? 1 : 0
            encrypted += texts.count
            for text in texts {
                #expect(
                    !text.contains("Meet me") && text.contains("-data"),
                    "\(seed) \(sender) \(to) \(header)\(fields)"
                )
            }
        }
        #expect(encrypted > 20 && kept > 20, "\(encrypted) \(kept)")
    }

    @Test(arguments: ["", "MAILER-DAEMON", "root", "alice+tag@example.com", "Alice@EXAMPLE.com"])
    func `the rules of the account in From apply to an empty envelope sender`(_ sender: String) async throws {
        let office = try await TestHome.office()
        let alice = try #require(Policy.Pattern("alice@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.sender(alice), encrypt: .require))
        let malformed = [
            "From: Alice Example alice@example.com\n", "From: Alice <alice@example.com\n",
            "From: Alice <alice@example.com> <x>\n", "From: =?utf-8?q?Alice_=3Calice=40example=2Ecom=3E?=\n",
            "From: eve@x.test\nFrom: Alice alice@example.com\n",
        ]
        for from in Self.froms.prefix(4) + malformed {
            let mail = "\(from)To: bob@example.com\n\n\(Self.secret)\n"
            #expect(try await sent(office, mail, from: sender, to: ["eve@x.test"]).isEmpty, "\(from)")
            let texts = try await sent(office, mail, from: sender, to: ["bob@example.com"])
            #expect(texts.count == 1 && !texts.joined().contains("Meet me"), "\(from)")
        }
    }

    @Test func `the rules of an account that is only in the display name do not apply`() async throws {
        let office = try await TestHome.office()
        let alice = try #require(Policy.Pattern("alice@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.sender(alice), encrypt: .require))
        let mail = "From: \"Scan (alice@example.com)\" <scanner@x.test>\nTo: eve@x.test\n\n\(Self.secret)\n"
        #expect(try await sent(office, mail, from: "", to: ["eve@x.test"]).count == 1)
    }

    @Test(arguments: [
        "alice@example.com", "alice+x@example.com", "\"alice \"@example.com", "alice%example.com@relay.test",
        "\"alice@example.com\"@relay.test", "example.com!alice@relay.test", "alice(x)@example.com",
        "alice@[example.com]",
        "@relay.test:alice@example.com",
    ])
    func `a rule for a sender applies to addresses that mail servers take for the sender`(sender: String) async throws {
        let office = try await TestHome.office()
        let pattern = try #require(Policy.Pattern("alice@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.sender(pattern), encrypt: .require))
        let mail = "From: alice@example.com\nTo: eve@x.test\n\n\(Self.secret)\n"
        #expect(try await sent(office, mail, from: sender, to: ["eve@x.test"]).isEmpty)
    }

    @Test(arguments: ["", "root"])
    func `a rule for the domain in From applies to an empty envelope sender`(_ sender: String) async throws {
        let office = try await TestHome.office()
        let domain = try #require(Policy.Pattern("example.net"))
        _ = try await office.store.policy.set(Policy.Rule(.sender(domain), encrypt: .require))
        _ = try await office.store.policy.set(Policy.Rule(.kind(.bounce), encrypt: .never))
        for from in ["nobody@example.net", "eve@x.test, nobody@example.net"] {
            let mail = "From: \(from)\nTo: bob@example.com\n\n\(Self.secret)\n"
            #expect(try await sent(office, mail, from: sender, to: ["eve@x.test"]).isEmpty, "\(from)")
            let texts = try await sent(office, mail, from: sender, to: ["bob@example.com"])
            #expect(texts.count == 1 && !texts.joined().contains("Meet me"), "\(from)")
        }
        // A rule for a sender who is only named in From does not lower the protection.
        _ = try await office.store.policy.set(Policy.Rule(.sender(domain), encrypt: .never))
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .require))
        let mail = "From: nobody@example.net\nTo: bob@example.com\n\n\(Self.secret)\n"
        #expect(try await sent(office, mail, from: sender, to: ["eve@x.test"]).isEmpty)
    }

    @Test func `mail from an alias that the certificate does not name is not signed`() async throws {
        let office = try await TestHome.office()
        let address = try EmailAddress("alice@example.com")
        var change = AccountChange()
        change.addedAliases = [try AddressScope("board@example.com"), try AddressScope("@dept.test")]
        _ = try await office.store.accounts.set(address, change)
        for author in ["board@example.com", "anybody@dept.test"] {
            let plan = try await office.plan(from: author, to: ["eve@x.test"])
            #expect(plan.messages.map(\.action) == [.plain])
            #expect(plan.decisions.first?.warnings.isEmpty == false)
        }
    }

    @Test(arguments: [
        ("+", "a+b@x.test", "a@x.test"), ("+", "\"a+b c\"@x.test", "a@x.test"), ("+", "+a@x.test", nil),
        ("-+", "a-b+c@x.test", "a@x.test"), ("", "a+b@x.test", nil), ("+", "A+B+c@X.test", "a@x.test"),
        ("+", "\"a\\\"+b\"@x.test", "\"a\\\"\"@x.test"),
    ])
    func `the detail of a sub-address is removed`(delimiters: String, address: String, base: String?) throws {
        let subaddressing = try #require(Subaddressing(parsing: delimiters))
        #expect(try subaddressing.base(of: EmailAddress(address)) == base.map { try EmailAddress($0) })
        #expect(Subaddressing(parsing: "a") == nil && Subaddressing(parsing: "@") == nil)
    }

    @Test(arguments: [
        ("alice@example.com", "From: x@y.test\n", true), ("x@y.test", "From: alice@example.com\n", true),
        ("", "From: alice@example.com\n", true), ("alice+x@example.com", "", true),
        ("x@y.test", "From: x@y.test\n", false), ("x@y.test", "From: Alice alice@example.com\n", true),
        ("x@y.test", "From: <alice@example.com\n", true), ("x@y.test", "From: alice@example.com>\n", true),
        ("x@y.test", "From: alice@example.com.\n", true),
        ("x@y.test", "From: x <alice@example.com> <b@c.test>\n", true),
        ("x@y.test", "junk\nFrom: alice@example.com\n", true), ("x@y.test", "From: ali\\ce@example.com\n", true),
        ("x@y.test", "From: =?utf-8?q?alice=40example.com?= <x@y.test>\n", true),
        ("x@y.test", "From: 'alice@example.com' <b@c.test>\n", true), ("<alice@example.com>", "", true),
        ("x@y.test", "Sender: alice@example.com\nFrom: x@y.test\n", false),
        ("x@y.test", "From: malice@example.com\n", false), ("root", "From: alice@example.com,\n", true),
        ("x@y.test", "From: a@y.test\nFrom: Alice <alice+q@example.com>\n", true), ("", "", false),
        ("mallory@example.com", "From: mallory@example.com\n", false),
        ("x@y.test", "From: x\ralice@example.com\n", true), ("x@y.test", "From: al\0ice@example.com\n", true),
        ("x@y.test", "Fr\0om: alice@example.com\n", true), ("x@y.test", "X: y\u{1C}From: alice@example.com\n", true),
        ("x@y.test", "X: y\u{2028}From: alice@example.com\n", true),
        ("x@y.test", "From: \u{E9}alice@example.com\n", true),
        ("x@y.test", "From: =?utf-8?b?YWxpY2V!AZXhhbXBsZS5jb20?=\n", true),
        ("x@y.test", "From: =?utf-7?q?x?= =?utf-8?b?YWxpY2V!AZXhhbXBsZS5jb20?=\n", true),
    ])
    func `incoming clear mail from an own account is refused if its recipient requires encryption`(
        _ sender: String,
        _ from: String,
        _ isRefused: Bool
    ) async throws {
        let office = try await TestHome.office()
        let check = RequiredEncryption(store: office.store)
        let mail = MemorySource(Array("\(from)To: bob@example.com\n\nHello\n".utf8))
        try await check.check(mail, from: EnvelopeSender(sender), to: ["bob@example.com"])
        let pattern = try #require(Policy.Pattern("bob@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.recipient(pattern), encrypt: .require))
        try await check.check(mail, from: EnvelopeSender(sender), to: ["carol@example.com"])
        let long = String(repeating: "a", count: 70)
        let spellings = [
            "bob@example.com", "BOB+x@example.com", "bob+\(long)@example.com", "bob(x)@example.com", "bob@example.com>",
            "bob @ example.com", "(x)bob@(y)example.com", "bob@[example.com]",
        ]
        for recipient in spellings {
            do {
                try await check.check(mail, from: EnvelopeSender(sender), to: ["eve@x.test", recipient])
                #expect(!isRefused)
            } catch GatewayError.mustBeEncrypted(_, let recipients) {
                #expect(isRefused && recipients == [recipient])
            }
        }
    }

    @Test(arguments: [true, false])
    func `a rule for all recipients applies to recipients without a domain`(isGlobal: Bool) async throws {
        let office = try await TestHome.office()
        let scope: Policy.Scope = isGlobal ? .global : .sender(try #require(Policy.Pattern("alice@example.com")))
        _ = try await office.store.policy.set(Policy.Rule(scope, encrypt: .require))
        let check = RequiredEncryption(store: office.store)
        let mail = MemorySource(Array("From: alice@example.com\nTo: root\n\nHello\n".utf8))
        let sender = EnvelopeSender("alice@example.com")
        let refusal = GatewayError.mustBeEncrypted(sender: try EmailAddress("alice@example.com"), recipients: ["root"])
        await #expect(throws: refusal) { try await check.check(mail, from: sender, to: ["root"]) }
        await #expect(throws: GatewayError.self) { try await check.checkEnvelope(from: sender, to: ["root"]) }
    }
}

extension MemorySource {
    fileprivate func bytes() throws -> [UInt8] { try bytes(in: 0..<count) }
}
