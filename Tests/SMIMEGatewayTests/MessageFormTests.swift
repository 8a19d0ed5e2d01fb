import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// Mail whose form prevents signing or encryption.
@Suite struct MessageFormTests {
    private static let unsignable = [
        "Content-Type: message/partial; id=1; number=1; total=2\n\nFrom: x@y.test\n\nhi \n",
        "Content-Type: text/plain\nContent-Transfer-Encoding: x-foo\n\nhi \u{E9}\n",
        "Content-Type: message/global\n\nFrom: \u{E9}@y.test\n\nhi\n",
    ]
    private static let broken = "Content-Type: text/plain\nContent-Type: text/html\n\nhi\n"

    private func plan(
        _ office: TestHome,
        _ body: String,
        to recipients: [String] = ["eve@x.test"],
        _ flags: ProtectionRequest = ProtectionRequest(),
        from sender: EnvelopeSender? = nil
    ) async throws -> (plan: OutgoingPlan, warnings: [String]) {
        let warnings = Mutex<[String]>([])
        let filter = OutgoingFilter(
            store: office.store,
            time: Date.judged,
            systemAnchors: false,
            flags: flags,
            warn: { text in warnings.withLock { $0.append(text) } }
        )
        let alice = EnvelopeSender.address(try EmailAddress("alice@example.com"))
        let to = try recipients.map { try EmailAddress($0) }
        let source = MemorySource(Array("From: alice@example.com\nTo: bob@example.com\n\(body)".utf8))
        let plan = try await filter.plan(source, from: sender ?? alice, to: to)
        return (plan, warnings.withLock(\.self))
    }

    @Test(arguments: unsignable)
    func `mail that cannot be signed is sent unsigned with a warning, encrypted if possible`(_ body: String)
        async throws
    {
        let office = try await TestHome.office()
        let (plain, warnings) = try await plan(office, body)
        #expect(plain.messages.map(\.action) == [.plain])
        #expect(warnings.contains { $0.hasPrefix("not signed: malformed: ") }, "\(warnings)")
        let (encrypted, others) = try await plan(office, body, to: ["bob@example.com"])
        #expect(encrypted.messages.map(\.action) == [.encrypt])
        #expect(others.contains { $0.hasPrefix("not signed: ") })
        let text = try String(decoding: encrypted.source(0).bytes, as: UTF8.self)
        #expect(text.contains("smime-type=authEnveloped-data"))
    }

    @Test(arguments: unsignable)
    func `mail that requires a signature and cannot be signed bounces for all recipients`(_ body: String) async throws {
        let office = try await TestHome.office()
        let (found, warnings) = try await plan(office, body, ProtectionRequest(sign: .require))
        #expect(found.decisions.map(\.action) == [.bounce] && found.messages.isEmpty && warnings.isEmpty)
        #expect(throws: MessageError.self) { try found.checkSendable() }
        let bob = try #require(Policy.Pattern("bob@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.recipient(bob), sign: .require, missing: .deferral))
        let (mixed, _) = try await plan(office, body, to: ["eve@x.test", "bob@example.com"])
        #expect(mixed.decisions.map(\.action) == [.plain, .bounce])
        #expect(throws: MessageError.self) { try mixed.checkSendable() }
    }

    @Test func `a bounce whose form prevents the required encryption is not answered, but waits`() async throws {
        let office = try await TestHome.office()
        let bob = try #require(Policy.Pattern("bob@example.com"))
        _ = try await office.store.policy.set(Policy.Rule(.recipient(bob), encrypt: .require))
        for (sender, action) in [(EnvelopeSender.null, PolicyDecision.Action.deferral), (nil, .bounce)] {
            let (found, _) = try await plan(office, Self.broken, to: ["bob@example.com"], from: sender)
            #expect(found.decisions.map(\.action) == [action])
        }
    }

    @Test func `mail that cannot be encrypted is sent in clear with a warning, unless encryption is required`()
        async throws
    {
        let office = try await TestHome.office()
        let (plain, warnings) = try await plan(office, Self.broken, to: ["bob@example.com"])
        #expect(plain.messages.map(\.action) == [.plain])
        #expect(warnings.contains { $0.hasPrefix("not encrypted: malformed: ") }, "\(warnings)")
        let (strict, _) = try await plan(
            office,
            Self.broken,
            to: ["bob@example.com"],
            ProtectionRequest(encrypt: .require)
        )
        #expect(strict.decisions.map(\.action) == [.bounce] && strict.messages.isEmpty)
        #expect(throws: MessageError.self) { try strict.checkSendable() }
    }
}
