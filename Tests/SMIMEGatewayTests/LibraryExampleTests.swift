import Foundation
import SMIMEGateway
import Synchronization
import TestSupport
import Testing

/// The example of docs/library.md for servers, compiled and run.
@Suite struct LibraryExampleTests {
    @Test func `the example for servers works`() async throws {
        let alice = try await TestHome.office()
        let bob = try await TestHome.office(of: ["bob"], knowing: [])
        for store in [alice.store, bob.store] { try await store.settings.set("filter.authserv-id", to: "gw.test") }
        _ = try await bob.store.policy.set(
            .init(.recipient(#require(.init("bob@example.com"))), decryptAtGateway: .yes)
        )
        let mail = try Message("From: alice@example.com\nTo: bob@example.com\n\nMeet me at eight.\n".utf8)
        let sender = EnvelopeSender("alice@example.com")
        var sent: [Gateway.Delivery] = []
        let out = try await Gateway(alice.store)
        let address = try EmailAddress("bob@example.com")
        try await sendOut(mail, from: sender, to: [address], through: out) { sent.append($0) }
        #expect(sent.map(\.sender) == ["alice@example.com"] && sent.map(\.recipients) == [["bob@example.com"]])
        #expect(try await out.explain(mail, from: sender, to: [address]).map(\.action.isChange) == [true])
        var delivered: [Gateway.Delivery] = []
        try await takeIn(
            Message(#require(sent.first).message.bytes()),
            from: sender,
            to: ["bob@example.com"],
            through: Gateway(bob.store),
            of: bob.store
        ) { delivered.append($0) }
        let text = try await String(decoding: #require(delivered.first).message.bytes(), as: UTF8.self)
        #expect(text.hasPrefix("Authentication-Results: gw.test; smime=pass (valid)"))
        #expect(text.contains("Meet me at eight."))
        #expect(delivered.map(\.sender) == [""])
        let known = try await bob.store.allRecipients().filter { $0.address.text == "alice@example.com" }
        #expect(known.map(\.certificate) == [try Certificate(fixture: "alice/cert.pem")])
    }

    @Test func `required protection that is impossible is refused with a sentence`() async throws {
        let alice = try await TestHome.office(knowing: [])
        try await alice.store.settings.set("filter.authserv-id", to: "gw.test")
        _ = try await alice.store.policy.set(.init(.recipient(#require(.init("*@example.com"))), encrypt: .require))
        let gateway = try await Gateway(alice.store)
        let mail = try Message("From: alice@example.com\nTo: nobody@example.com\n\nHello\n".utf8)
        let error = await #expect(throws: SMIMEError.self) {
            try await gateway.outgoing(
                mail,
                from: EnvelopeSender("alice@example.com"),
                to: [EmailAddress("nobody@example.com")]
            )
        }
        #expect(error?.code == .refused && error?.kind == .recipient, "\(String(describing: error))")
    }

    @Test func `the example in docs/library.md is the compiled one`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/library.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## A filter in your own server\n").last)
        let example = try #require(section.components(separatedBy: "```swift\n").dropFirst().first)
        let wanted = try #require(example.components(separatedBy: "```").first)
        #expect(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).contains(wanted))
    }
}

/// Signs and encrypts a mail according to the rules, and hands each resulting message to `send`.
func sendOut(
    _ mail: Message,
    from sender: EnvelopeSender,
    to recipients: [EmailAddress],
    through gateway: Gateway,
    send: (Gateway.Delivery) async throws -> Void
) async throws {
    for delivery in try await gateway.outgoing(mail, from: sender, to: recipients) { try await send(delivery) }
}

/// Adds the verdict to an incoming mail, delivers it, and learns its author's certificate.
func takeIn(
    _ mail: Message,
    from sender: EnvelopeSender,
    to recipients: [String],
    through gateway: Gateway,
    of store: Store,
    send: (Gateway.Delivery) async throws -> Void
) async throws {
    let incoming = try await gateway.incoming(mail, from: sender, to: recipients)
    for delivery in incoming.deliveries { try await send(delivery) }
    // The mail is delivered; later errors must not count as failures of the delivery.
    if let learnable = incoming.learnable { _ = try? await store.learn(from: learnable) }
}
