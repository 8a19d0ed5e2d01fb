import Foundation
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// A `Gateway` needs an existing store: without rules and keys, all mail would pass in clear.
@Suite struct GatewayStoreTests {
    private let mail = "From: alice@example.com\nTo: bob@example.com\n\nHello\n"

    @Test func `a gateway is not made without a store`() async throws {
        let folder = try TemporaryFolder()
        let store = try await Store.open(folder.file("store").path, mode: .readOnly)
        let error = await #expect(throws: SMIMEError.self) { try await Gateway(store) }
        #expect(error?.code == .storeUnusable)
        let other = await #expect(throws: SMIMEError.self) {
            try await Store.open(folder.file("store").path, mode: .readWriteExisting)
        }
        #expect(other?.code == .storeUnusable)
    }

    @Test func `no empty store takes the place of one that served a gateway`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store").path
        let store = try await Store.open(path)
        _ = try await Gateway(store)
        try await store.finish()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: store.location.database + suffix)
        }
        let error = await #expect(throws: SMIMEError.self) { try await Store.open(path) }
        #expect(error?.code == .storeUnusable)
    }

    @Test func `why mail is sent in clear is said, and an empty mail is refused`() async throws {
        let alice = try await TestHome.office(knowing: ["expired"])
        _ = try await alice.store.policy.set(.init(.global, sign: .never, encrypt: .available))
        let gateway = try await Gateway(alice.store)
        let (sender, recipient) = (EnvelopeSender("<alice@example.com>"), try EmailAddress("expired@example.com"))
        #expect(sender.address?.text == "alice@example.com")
        let deliveries = try await gateway.outgoing(Message(mail.utf8), from: sender, to: [recipient])
        #expect(deliveries.count == 1)
        let warnings = deliveries.flatMap(\.warnings)
        #expect(warnings.contains { $0.contains("no usable certificate for expired@example.com") }, "\(warnings)")
        let error = await #expect(throws: SMIMEError.self) {
            try await gateway.outgoing(Message([]), from: sender, to: [recipient])
        }
        #expect(error?.code == .malformed)
    }

    @Test func `the author who cannot read the sent mail is told`() async throws {
        let alice = try await TestHome.office(of: ["bob"], knowing: ["carol"])
        let text = "From: alice@example.com\nTo: carol@example.com\n\nHello\n"
        let copies = try await alice.store.protect(Message(text.utf8), signing: false, at: .judged)
        #expect(copies.map(\.warnings.count) == [1])
        #expect(copies.first?.warnings.first?.contains("alice@example.com will not be able to read it") == true)
    }
}
