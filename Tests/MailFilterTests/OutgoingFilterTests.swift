import CMS
import Foundation
import Keystore
import MIME
import MailFilter
import SMIME
import Streams
import TestSupport
import Testing

/// Real mail through the filter, with a store of Alice's.
@Suite struct OutgoingFilterTests {
    private let office: Office

    init() async throws { office = try await Office() }

    private func plan(
        to recipients: String...,
        header: String = "From: alice@example.com\nTo: bob@example.com, p384@example.com\n",
        flags: MessageWish = MessageWish()
    ) async throws -> OutgoingPlan {
        let filter = OutgoingFilter(store: office.store, time: Office.time, systemAnchors: false, flags: flags)
        let source = MemorySource(Array("\(header)\nMeet me at eight.\n".utf8))
        return try await filter.plan(
            source,
            from: .address(EmailAddress("alice@example.com")),
            to: recipients.map { try EmailAddress($0) }
        )
    }

    private func sharing(_ plan: OutgoingPlan) -> [[String]] { plan.messages.map { $0.recipients.map(\.text) } }

    @Test func `Recipients with the same decision share a message`() async throws {
        let found = try await plan(
            to: "bob@example.com",
            "BOB@example.com",
            "p384@example.com",
            "eve@x.test",
            "fred@x.test"
        )
        #expect(sharing(found) == [["eve@x.test", "fred@x.test"], ["bob@example.com", "p384@example.com"]])
        #expect(found.messages.map(\.action) == [.sign, .signAndEncrypt])
    }

    @Test func `Who is in neither To nor Cc gets an encrypted message of their own`() async throws {
        let header = "From: alice@example.com\nTo: bob@example.com\nBcc: p384@example.com\n"
        let found = try await plan(to: "bob@example.com", "p384@example.com", "p521@example.com", header: header)
        #expect(sharing(found) == [["bob@example.com"], ["p384@example.com"], ["p521@example.com"]])
        for message in found.messages {
            let sink = MemorySink()
            try found.write(message, to: sink)
            let text = String(decoding: sink.bytes, as: UTF8.self)
            #expect(!text.contains("Bcc:") && !text.contains("Meet me"))
        }
    }

    @Test func `A message nobody needs a change of is the very same bytes`() async throws {
        let header = "From: alice@example.com\r\nSubject:  odd \n folded\nTo: bob@example.com\n"
        let found = try await plan(
            to: "bob@example.com",
            header: header,
            flags: MessageWish(sign: .never, encrypt: .never)
        )
        let sink = MemorySink()
        try found.write(try #require(found.messages.first), to: sink)
        #expect(sink.bytes == Array("\(header)\nMeet me at eight.\n".utf8))
    }

    @Test func `Nothing is sent for whom something required is missing, and none of it in clear`() async throws {
        let found = try await plan(to: "bob@example.com", "eve@x.test", flags: MessageWish(encrypt: .require))
        #expect(sharing(found) == [["bob@example.com"]])
        #expect(found.bounces.map(\.recipient.text) == ["eve@x.test"])
        #expect(found.bounces.first?.obstacles == ["no usable certificate for eve@x.test (none is known)"])
    }

    @Test(arguments: [
        "From: eve@x.test\nTo: bob@example.com\n",
        "From: alice@example.com\nFrom: alice@example.com\nTo: bob@example.com\n",
        "To: bob@example.com\n",
    ])
    func `An account's signature is not for mail from somebody else, or nobody`(_ header: String) async throws {
        let found = try await plan(to: "bob@example.com", header: header, flags: MessageWish(encrypt: .never))
        #expect(found.messages.map(\.action) == [.plain])
    }
}

/// A store with Alice's identity and certificates of some others, in a home of its own.
private final class Office: Sendable {
    /// A time at which the test certificates are judged.
    static let time = Date(timeIntervalSince1970: 1_793_491_200)

    let store: Store
    private let home: String

    init() async throws {
        home = NSTemporaryDirectory() + "smime-filter-\(UUID().uuidString)"
        store = try await Store.open(StoreLocation(home: home), mode: .readWrite)
        var batch = ImportBatch()
        let alice = try Self.certificate("alice/cert.pem")
        batch.identities = [
            .init(
                certificate: alice,
                key: try PrivateKey(pkcs8: Self.der("alice/key.pem")),
                accounts: alice.emailAddresses,
                isAssigned: false
            )
        ]
        batch.anchors = [try Self.certificate("ca/root.pem")]
        batch.intermediates = [try Self.certificate("ca/intermediate.pem")]
        for name in ["bob", "p384", "p521"] {
            let certificate = try Self.certificate("\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: Self.time)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private static func certificate(_ name: String) throws -> Certificate { try Certificate(der: der(name)) }

    /// The bytes in the PEM block of a file.
    private static func der(_ name: String) throws -> [UInt8] {
        let lines = String(decoding: try Fixtures.cert(name), as: UTF8.self).split(separator: "\n")
        let block = lines.drop { !$0.hasPrefix("-----BEGIN") }.dropFirst().prefix { !$0.hasPrefix("-----END") }
        return try [UInt8](base64: block.joined().utf8)
    }
}
