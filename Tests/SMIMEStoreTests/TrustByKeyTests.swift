import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct TrustByKeyTests {
    private let alice = "alice@example.com"

    @Test func `a certificate with another signature value uses the same stored key`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("alice", subject: "/CN=Alice", by: "root", extensions: CertificateFactory.person(alice))
        let (root, first) = (try factory.certificate("root"), try factory.certificate("alice"))
        let second = try Certificate(der: try otherSignature(of: first.der))
        #expect(second.fingerprint != first.fingerprint)
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = ImportBatch()
        batch.anchors = [root]
        batch.recipients = [.init(certificate: first, addresses: [try AddressScope(alice)])]
        _ = try await store.add(batch, at: .now)
        #expect(try await judge(second, in: store).isTrusted)
        _ = try await store.recipients.setTrust(.distrusted, of: AddressScope(alice))
        let verdict = try await judge(second, in: store)
        #expect(verdict.problems.map(\.kind) == [.chainDistrusted])
        let sighting = SignerSighting(address: try EmailAddress(alice), certificate: second)
        _ = try await store.recipients.learn([sighting], at: .now, onChange: .use)
        batch.recipients = [.init(certificate: second, addresses: [try AddressScope(alice)])]
        _ = try await store.add(batch, at: .now)
        let known = try await store.recipients.certificates(for: AddressScope(alice))
        #expect(known.map(\.trust) == [.distrusted, .distrusted])
        #expect(try await select(in: store) == nil)
        // A pin ends the distrust of the key.
        _ = try await store.recipients.setTrust(.pinned, of: AddressScope(alice), fingerprint: first.fingerprint)
        #expect(try await judge(second, in: store).problems.isEmpty)
        #expect(try await store.recipients.certificates(for: AddressScope(alice)).map(\.trust) == [.pinned, .pinned])
    }

    @Test func `revocation overrides a pinned certificate`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("first", subject: "/CN=Alice", by: "root", extensions: CertificateFactory.person(alice))
        try factory.sh("cp first.key second.key; cp first.key self.key")
        try factory.issue("second", subject: "/CN=Alice", by: "root", extensions: CertificateFactory.person(alice))
        try factory.issue("self", subject: "/CN=Alice", extensions: CertificateFactory.person(alice))
        try factory.revoke(["first"], by: "root", to: "root")
        let (root, first) = (try factory.certificate("root"), try factory.certificate("first"))
        let others = [try factory.certificate("second"), try factory.certificate("self")]
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = ImportBatch()
        batch.intermediates = [root]
        batch.recipients = [.init(certificate: first, addresses: [try AddressScope(alice)], isPinned: true)]
        _ = try await store.add(batch, at: .now)
        for other in others { #expect(try await judge(other, in: store).trust == .pinned) }
        batch.crls = [try CertificateList(der: factory.bytes("root.crl"))]
        _ = try await store.add(batch, at: .now)
        for other in others { #expect(try await judge(other, in: store).trust == nil) }
        batch.recipients = [.init(certificate: others[0], addresses: [try AddressScope(alice)])]
        _ = try await store.add(batch, at: .now)
        #expect(try await select(in: store) == nil)
    }

    private func judge(_ certificate: Certificate, in store: Store) async throws -> ChainVerdict {
        try await store.anchors.trust(judging: [certificate], systemAnchors: false)
            .judge(certificate, purpose: .signing, at: .now)
    }

    private func select(in store: Store) async throws -> Certificate? {
        let lookup = RecipientLookup(store: store, systemAnchors: false)
        return try await lookup.choices(for: [AddressScope(alice)], at: .now).choices.first?.selected?.certificate
    }

    /// The order of the curve P-256.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7,
        0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// The same certificate with the other valid ECDSA signature: n − s instead of s.
    private func otherSignature(of der: [UInt8]) throws -> [UInt8] {
        // The structure is SEQUENCE { tbs, algorithm, BIT STRING { 0, SEQUENCE { INTEGER r, INTEGER s } } }; s is the last
        // element.
        let end = (2..<8).compactMap { rest in
            der.indices.last { der[$0...].starts(with: [0x03]) && $0 < der.count - 60 - rest }
        }
        let place = try #require(end.first { der[$0 + 2] == 0 && Int(der[$0 + 1]) == der.count - $0 - 2 })
        let pair = Array(der[(place + 3)...])
        let countR = Int(pair[3])
        let r = Array(pair[2..<(4 + countR)])
        let s = Array(pair[(4 + countR + 2)...].drop { $0 == 0 })
        let padded = [UInt8](repeating: 0, count: 32 - s.count) + s
        var (other, borrow) = ([UInt8](), 0)
        for index in (0..<32).reversed() {
            let difference = Int(Self.order[index]) - Int(padded[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            other.insert(UInt8(truncatingIfNeeded: difference), at: 0)
        }
        let shortest = Array(other.drop { $0 == 0 })
        let number = (shortest.first.map { $0 >= 0x80 } ?? true ? [0] : []) + shortest
        let numbers = r + [0x02, UInt8(number.count)] + number
        let bits = [0x00, 0x30, UInt8(numbers.count)] + numbers
        let content = Array(der[4..<place]) + [0x03, UInt8(bits.count)] + bits
        return [0x30, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
}
