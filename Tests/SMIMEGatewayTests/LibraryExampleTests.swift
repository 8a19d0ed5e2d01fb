import ByteStreams
import CertificateDiscovery
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// The example of docs/library.md for servers, compiled and run.
@Suite struct LibraryExampleTests {
    /// Keeps what is sent.
    private final class Outbox: MailTransport {
        let sent = Mutex<[(mail: [UInt8], sender: String, recipients: [String])]>([])

        func send(_ file: SpooledFile, from sender: String, to recipients: [String]) throws(TransportError) {
            do {
                let source = try file.rewound()
                let bytes = try source.bytes(in: 0..<source.count)
                sent.withLock { $0.append((bytes, sender, recipients)) }
            } catch { throw TransportError("\(error)") }
        }
    }

    @Test func `the example for servers works`() async throws {
        let alice = try await Office()
        let bob = try await Office(of: ["bob"], knowing: [])
        for store in [alice.store, bob.store] { try await store.settings.set("filter.authserv-id", to: "gw.test") }
        let address = try EmailAddress("bob@example.com")
        _ = try await bob.store.policy.set(
            .init(.recipient(#require(.init("bob@example.com"))), decryptAtGateway: .yes)
        )
        let mail = MemorySource(Array("From: alice@example.com\nTo: bob@example.com\n\nMeet me at eight.\n".utf8))
        let (way, box) = (Outbox(), Outbox())
        let sender = EnvelopeSender("alice@example.com")
        try await sendOut(mail, from: sender, to: [address], by: alice.store, through: way)
        let sent = try #require(way.sent.withLock { $0 }.first)
        #expect(sent.sender == "alice@example.com")
        try await takeIn(MemorySource(sent.mail), from: sender, to: sent.recipients, by: bob.store, through: box)
        let delivered = try #require(box.sent.withLock { $0 }.first)
        let text = String(decoding: delivered.mail, as: UTF8.self)
        #expect(text.hasPrefix("Authentication-Results: gw.test; smime=pass (valid)"))
        #expect(text.contains("Meet me at eight."))
        #expect(delivered.sender.isEmpty)
        let known = try await bob.store.recipients.certificates(for: .init("alice@example.com"))
        #expect(known.map(\.certificate) == [try Office.certificate("alice/cert.pem")])
    }

    @Test func `the example in docs/library.md is the one that is compiled here`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/library.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## A filter in your own server\n").last)
        let example = try #require(section.components(separatedBy: "```swift\n").dropFirst().first)
        let wanted = try #require(example.components(separatedBy: "```").first)
        #expect(
            try Self.lines(String(contentsOf: URL(filePath: #filePath), encoding: .utf8)).contains(Self.lines(wanted))
        )
    }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}

/// Signs and encrypts a mail as the rules say, and sends it to all its recipients or to none.
func sendOut(
    _ mail: any ByteSource,
    from sender: EnvelopeSender,
    to recipients: [EmailAddress],
    by store: Store,
    through transport: any MailTransport
) async throws {
    let fetcher = try await fetcher(of: store)
    let host = try await store.mailHost()
    let filter = OutgoingFilter(store: store, time: .now, revocation: fetcher, host: host)
    let plan = try await filter.plan(mail, from: sender, to: recipients)
    try plan.checkAllGo()
    // Everything is signed and encrypted before the first message leaves.
    let messages = try plan.messages.map { message in
        Delivery.Message(try SpooledFile { try plan.write(message, to: $0) }, to: message.recipients.map(\.text))
    }
    try await Delivery(from: sender.text, messages)
        .run(through: transport, rememberingIn: nil, as: nil, at: .now)
}

/// Puts the verdict on a mail that came, delivers it, and learns its author's certificate.
func takeIn(
    _ mail: any ByteSource,
    from sender: EnvelopeSender,
    to recipients: [String],
    by store: Store,
    through transport: any MailTransport
) async throws {
    // Our own people's mail that must be encrypted does not go on in clear by this way.
    try await RequiredEncryption(store: store).check(mail, from: sender, to: recipients)
    let fetcher = try await fetcher(of: store)
    let host = try await store.mailHost()
    let filter = IncomingFilter(store: store, time: .now, host: host, revocation: fetcher)
    let plan = try await filter.plan(mail, to: recipients)
    // What was decrypted must not go back in clear to whoever sent the ciphertext.
    let decryptedSender = try await store.decryptedSender().text
    let messages = try plan.messages.map { message in
        Delivery.Message(
            try SpooledFile { try message.source.reader().copy(to: $0) },
            to: message.recipients,
            from: message.isDecrypted ? decryptedSender : nil
        )
    }
    try await Delivery(from: sender.text, messages)
        .run(through: transport, rememberingIn: nil, as: nil, at: .now)
    // Delivered: nothing that goes wrong from here on is a failure of the mail's.
    guard let message = plan.learnable else { return }
    _ = try? await store.recipients.learn([SignerSighting(message)], at: .now)
}

/// Who asks about revocation over the network; nil if the store's settings want nobody asked.
func fetcher(of store: Store) async throws -> RevocationFetcher? {
    let services = try await store.revocationServices()
    guard services.areAsked else { return nil }
    return RevocationFetcher(
        HTTPClient(timeLimit: services.timeLimit, allowsPrivateAddresses: services.allowsPrivateAddresses)
    )
}
