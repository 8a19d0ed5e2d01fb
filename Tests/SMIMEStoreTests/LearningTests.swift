import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct LearningTests {
    private let home: TemporaryHome

    init() throws { home = try TemporaryHome() }

    private let alice = "alice@example.com"
    private let day: TimeInterval = 24 * 60 * 60
    private let strong: [UInt8] = [0x30, 0x0D, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 101, 3, 4, 1, 46]
    private let weak: [UInt8] = [0x30, 0x0D, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 101, 3, 4, 1, 2]

    @Test func `the first certificate of an address is learned with its message and its authorities`() async throws {
        let store = try await home.open()
        let intermediate = try Certificate(fixture: "ca/intermediate.pem")
        let sighting = try sighting("alice", authorities: [intermediate], messageID: "<1@example.com>")
        let report = try await store.recipients.learn([sighting], at: .judged)
        #expect(report.entries.map(\.kind) == [.learned])
        let known = try #require(try await known(in: store).first)
        #expect(known.certificate == (try Certificate(fixture: "alice/cert.pem")))
        #expect(known.source == .harvest)
        #expect(known.sourceDetail == "<1@example.com>")
        #expect(known.trust == .chain)
        #expect(try await store.anchors.chain(above: known.certificate) == [intermediate])
        #expect(try await store.anchors.all().isEmpty)
    }

    @Test func `only certificates that name the author, and no authorities, are learned`() async throws {
        let store = try await home.open()
        let foreign = SignerSighting(
            address: try EmailAddress(alice),
            certificate: try Certificate(fixture: "bob/cert.pem"),
            encryptionCertificate: try Certificate(fixture: "ca-as-leaf/cert.pem")
        )
        let report = try await store.recipients.learn([foreign], at: .judged)
        #expect(report.entries.isEmpty)
        #expect(!report.changesStore)
        #expect(try await store.recipients.all().isEmpty)
    }

    @Test func `a pinned signer without a chain is not learned for another address`() async throws {
        let store = try await home.open()
        let sighting = try sighting("mallory", isAnchored: false)
        #expect(try await store.recipients.learn([sighting], at: .judged).entries.isEmpty)
        #expect(try await known(in: store).isEmpty)
    }

    @Test func `repeated mail adds nothing and is written at most once a day`() async throws {
        let store = try await home.open()
        let sighting = try sighting("alice")
        let many = [SignerSighting](repeating: sighting, count: 1000)
        #expect(try await store.recipients.learn(many, at: .judged).entries.count == 1)
        #expect(try await known(in: store).count == 1)
        let sameDay = Date.judged.addingTimeInterval(day - 1)
        #expect(try await !store.recipients.preview([sighting], at: sameDay).changesStore)
        let nextDay = Date.judged.addingTimeInterval(day)
        #expect(try await store.recipients.preview([sighting], at: nextDay).changesStore)
        let again = try await store.recipients.learn([sighting], at: nextDay)
        #expect(again.entries.isEmpty)
        #expect(try await known(in: store).map(\.lastSeen) == [nextDay])
        #expect(try await known(in: store).map(\.firstSeen) == [Date.judged])
    }

    @Test(arguments: [("alice-reissued", LearningReport.Kind.renewed), ("alice-renewed", .changed)])
    func `the same key and issuer is a renewal, all else a change, and the old certificate is kept`(
        _ name: String,
        _ kind: LearningReport.Kind
    ) async throws {
        let store = try await home.open()
        try await addAuthorities(to: store)
        _ = try await store.recipients.learn([try sighting("alice")], at: .judged)
        let report = try await store.recipients.learn([try sighting(name)], at: .judged)
        let entry = try #require(report.entries.first)
        #expect(entry.kind == kind)
        #expect(!entry.isHeld)
        #expect(entry.previous == (try Certificate(fixture: "alice/cert.pem")))
        #expect(try await selected(in: store) == Certificate(fixture: "\(name)/cert.pem"))
        #expect(try await known(in: store).count == 2)
    }

    @Test func `older mail never replaces newer data`() async throws {
        let store = try await home.open()
        let newer = try sighting("alice-renewed", capabilities: strong, signingTime: Date.judged)
        let older = try sighting("alice", signingTime: Date.judged.addingTimeInterval(-30 * day))
        _ = try await store.recipients.learn([newer, older], at: .judged)
        #expect(try await selected(in: store) == Certificate(fixture: "alice-renewed/cert.pem"))
        let past = Date.judged.addingTimeInterval(-2 * day)
        _ = try await store.recipients.learn(
            [try sighting("alice-renewed", capabilities: weak, signingTime: past)],
            at: Date.judged
        )
        let known = try #require(try await known(in: store).first)
        #expect(known.capabilities == strong)
        #expect(known.capabilitiesTime == Date.judged)
        #expect(known.firstSeen == past)
        #expect(known.lastSeen == Date.judged)
    }

    @Test func `a signing time in the far future does not count as newest`() async throws {
        let store = try await home.open()
        let ahead = Date.judged.addingTimeInterval(3650 * day)
        _ = try await store.recipients.learn(
            [try sighting("alice", capabilities: weak, signingTime: ahead)],
            at: Date.judged
        )
        #expect(try await known(in: store).map(\.capabilities) == [nil])
        #expect(try await known(in: store).map(\.lastSeen) == [Date.judged])
        let next = Date.judged.addingTimeInterval(60)
        _ = try await store.recipients.learn(
            [try sighting("alice", capabilities: strong, signingTime: next)],
            at: next
        )
        #expect(try await known(in: store).map(\.capabilities) == [strong])
        #expect(try await known(in: store).map(\.capabilitiesTime) == [next])
    }

    @Test func `a changed certificate is held until it is trusted, and the old one is used`() async throws {
        let store = try await home.open()
        _ = try await store.recipients.learn([try sighting("alice")], at: .judged, onChange: .hold)
        let renewed = try sighting("alice-renewed")
        let report = try await store.recipients.learn([renewed], at: .judged, onChange: .hold)
        #expect(report.entries.map(\.isHeld) == [true])
        #expect(try await selected(in: store) == Certificate(fixture: "alice/cert.pem"))
        _ = try await store.recipients.learn([renewed], at: Date.judged.addingTimeInterval(day), onChange: .use)
        #expect(try await selected(in: store) == Certificate(fixture: "alice/cert.pem"))
        _ = try await store.recipients.setTrust(
            .pinned,
            of: try AddressScope(alice),
            fingerprint: renewed.certificate.fingerprint
        )
        #expect(try await selected(in: store) == Certificate(fixture: "alice-renewed/cert.pem"))
    }

    @Test func `a renewal of a held or distrusted certificate is held or distrusted`() async throws {
        for distrusts in [false, true] {
            let home = try TemporaryHome()
            let store = try await home.open()
            _ = try await store.recipients.learn([try sighting("alice-renewed")], at: .judged)
            _ = try await store.recipients.learn([try sighting("alice")], at: .judged, onChange: .hold)
            if distrusts {
                let fingerprint = try Certificate(fixture: "alice/cert.pem").fingerprint
                _ = try await store.recipients.setTrust(.distrusted, of: AddressScope(alice), fingerprint: fingerprint)
            }
            // Another certificate with the same key by the same issuer.
            let next = try sighting("alice-reissued")
            let report = try await store.recipients.learn([next], at: .judged, onChange: distrusts ? .use : .hold)
            #expect(report.entries.map(\.kind) == [.changed])
            #expect(report.entries.map(\.isHeld) == [true])
            let trust = try await known(in: store).first { $0.certificate == next.certificate }?.trust
            #expect(trust == (distrusts ? .distrusted : .held))
        }
    }

    @Test func `certificates announced by a held signer are not used`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        var certificates: [String: Certificate] = [:]
        for (name, usage) in [
            ("first", "digitalSignature"), ("rogue", "digitalSignature"), ("bait", "keyEncipherment"),
        ] {
            let extensions = CertificateFactory.person(alice) + ["keyUsage=\(usage)"]
            try factory.issue(name, subject: "/CN=\(name)", by: "root", extensions: extensions)
            certificates[name] = try factory.certificate(name)
        }
        let store = try await home.open()
        let made = certificates
        func sighting(_ name: String, announcing other: String? = nil) throws -> SignerSighting {
            SignerSighting(
                address: try EmailAddress(alice),
                certificate: try #require(made[name]),
                encryptionCertificate: try other.map { try #require(made[$0]) }
            )
        }
        _ = try await store.recipients.learn([sighting("first")], at: .now, onChange: .hold)
        let report = try await store.recipients.learn(
            [sighting("rogue", announcing: "bait")],
            at: .now,
            onChange: .hold
        )
        #expect(report.entries.map(\.isHeld) == [true, true])
        #expect(try await choice(for: alice, in: store).selected == nil)
    }

    @Test func `separate signing and encryption certificates of one mail are no change`() async throws {
        let store = try await home.open()
        let sighting = SignerSighting(
            address: try EmailAddress("split@example.com"),
            certificate: try Certificate(fixture: "split/cert.pem"),
            encryptionCertificate: try Certificate(fixture: "split/encrypt-cert.pem")
        )
        let report = try await store.recipients.learn([sighting], at: .judged, onChange: .hold)
        #expect(report.entries.map(\.kind) == [.learned, .learned])
        let choice = try await choice(for: "split@example.com", in: store)
        #expect(choice.selected?.certificate == sighting.encryptionCertificate)
        #expect(choice.candidates.contains { $0.reason == .notForEncryption })
    }

    @Test func `a certificate distrusted by hand stays distrusted when its owner writes again`() async throws {
        let store = try await home.open()
        _ = try await store.recipients.learn([try sighting("alice")], at: .judged)
        _ = try await store.recipients.setTrust(.distrusted, of: try AddressScope(alice))
        _ = try await store.recipients.learn([try sighting("alice")], at: Date.judged.addingTimeInterval(2 * day))
        #expect(try await known(in: store).map(\.trust) == [.distrusted])
    }

    @Test func `a change under another root, or of an imported certificate, is held`() async throws {
        let otherRoot = try Certificate(fixture: "untrusted/root.pem")
        for source in [nil, KnownRecipient.Source.imported, .added, .identity] {
            let home = try TemporaryHome()
            let store = try await home.open()
            try await addAuthorities(to: store, [otherRoot])
            if source == .identity {
                _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
            } else if let source {
                var batch = ImportBatch()
                batch.recipients = [
                    .init(
                        certificate: try Certificate(fixture: "alice/cert.pem"),
                        addresses: [try AddressScope(alice)],
                        source: source
                    )
                ]
                _ = try await store.add(batch, at: .judged)
            } else {
                _ = try await store.recipients.learn([try sighting("alice")], at: .judged)
            }
            let foreign = try await store.recipients.learn([try sighting("mallory")], at: .judged)
            #expect(foreign.entries.map(\.isHeld) == [true])
            #expect(foreign.entries.map(\.previous) == [try Certificate(fixture: "alice/cert.pem")])
            let next = try await store.recipients.learn([try sighting("alice-renewed")], at: .judged)
            #expect(next.entries.map(\.isHeld) == [source != nil])
            // A certificate with the same key is not a change, however the earlier certificate was chosen.
            let same = try await store.recipients.learn([try sighting("alice-reissued")], at: .judged)
            #expect(same.entries.map(\.isHeld) == [false])
        }
    }

    /// The first certificate has no chain to an anchor. The name constraints of its authority forbid the second one.
    @Test(arguments: ["mallory", "name-constraints"])
    func `an imported certificate without a valid chain holds up no other one`(name: String) async throws {
        let store = try await home.open()
        try await addAuthorities(to: store, [])
        var batch = ImportBatch()
        batch.intermediates = [try Certificate(fixture: "name-constraints/ca.pem")]
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "\(name)/cert.pem"),
                addresses: [try AddressScope(alice)],
                source: .imported
            )
        ]
        _ = try await store.add(batch, at: .judged)
        let report = try await store.recipients.learn([try sighting("alice")], at: .judged)
        #expect(report.entries.map(\.isHeld) == [false])
        #expect(report.entries.map(\.kind) == [.learned])
    }

    private func sighting(
        _ name: String,
        authorities: [Certificate] = [],
        isAnchored: Bool = true,
        capabilities: [UInt8]? = nil,
        signingTime: Date? = nil,
        messageID: String? = nil
    ) throws -> SignerSighting {
        SignerSighting(
            address: try EmailAddress(alice),
            certificate: try Certificate(fixture: "\(name)/cert.pem"),
            authorities: authorities,
            isAnchored: isAnchored,
            capabilities: capabilities,
            signingTime: signingTime,
            messageID: messageID
        )
    }

    private func known(in store: Store) async throws -> [KnownRecipient] {
        try await store.recipients.certificates(for: AddressScope(alice))
    }

    private func selected(in store: Store) async throws -> Certificate? {
        try await choice(for: alice, in: store).selected?.certificate
    }

    private func choice(for address: String, in store: Store) async throws -> RecipientChoice {
        try await addAuthorities(to: store)
        let lookup = RecipientLookup(store: store, systemAnchors: false)
        return try #require(try await lookup.choices(for: [AddressScope(address)], at: .judged).choices.first)
    }

    private func addAuthorities(to store: Store, _ more: [Certificate] = []) async throws {
        var batch = ImportBatch()
        batch.anchors = [try Certificate(fixture: "ca/root.pem")] + more
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        _ = try await store.add(batch, at: .judged)
    }
}
