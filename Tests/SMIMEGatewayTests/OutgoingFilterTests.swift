import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// Real mail through the filter, with Alice's store.
@Suite struct OutgoingFilterTests {
    @Test func `mail waits if checking the recipient's certificate takes too long`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("dana@example.com")
        try factory.issue("dana", subject: "/CN=Dana", by: "root", extensions: person)
        let office = try await TestHome.office(knowing: [])
        var batch = ImportBatch()
        batch.anchors = [try factory.certificate("root")]
        let address = try AddressScope("dana@example.com")
        batch.recipients = [.init(certificate: try factory.certificate("dana"), addresses: [address])]
        for number in 0..<65 {
            let point = "[idp]\nfullname=dirName:point\n[point]\nCN=\(number)"
            let extensions = ["issuingDistributionPoint=critical,@idp"]
            try factory.revoke([], by: "root", to: "list\(number)", extensions: extensions, sections: point)
            batch.crls.append(try CertificateList(der: factory.bytes("list\(number).crl")))
        }
        _ = try await office.store.add(batch, at: .now)
        let filter = OutgoingFilter(store: office.store, time: .now, systemAnchors: false)
        let plan = try await filter.plan(
            MemorySource(Array("From: alice@example.com\nTo: dana@example.com\n\nMeet me at eight.\n".utf8)),
            from: EnvelopeSender("alice@example.com"),
            to: [EmailAddress("dana@example.com")]
        )
        #expect(plan.decisions.map(\.action) == [.deferral])
        #expect(throws: GatewayError.self) { try plan.checkSendable() }
    }

    private let office: TestHome

    init() async throws { office = try await TestHome.office() }

    private func plan(
        to recipients: String...,
        header: String = "From: alice@example.com\nTo: bob@example.com, p384@example.com\n",
        flags: ProtectionRequest = ProtectionRequest()
    ) async throws -> OutgoingPlan {
        try await office.plan(from: "alice@example.com", to: recipients, header: header, flags: flags)
    }

    private func sharing(_ plan: OutgoingPlan) -> [[String]] { plan.messages.map { $0.recipients.map(\.text) } }

    @Test func `recipients with the same decision share a message`() async throws {
        let found = try await plan(
            to: "bob@example.com",
            "BOB@example.com",
            "p384@example.com",
            "eve@x.test",
            "fred@x.test"
        )
        #expect(
            sharing(found) == [
                ["eve@x.test", "fred@x.test"], ["bob@example.com", "BOB@example.com", "p384@example.com"],
            ]
        )
        #expect(found.messages.map(\.action) == [.sign, .signAndEncrypt])
    }

    @Test func `a recipient in neither To nor Cc gets a separate encrypted message`() async throws {
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

    @Test func `more addresses in To than are read hold up only mail that is to be encrypted`() async throws {
        let crowd = (1...1_100).map { "r\($0)@x.test" }.joined(separator: ",\n ")
        let header = "From: alice@example.com\nTo: \(crowd)\n"
        let plain = ProtectionRequest(sign: .never, encrypt: .never)
        let found = try await plan(to: "r1@x.test", "r2@x.test", header: header, flags: plain)
        #expect(sharing(found) == [["r1@x.test", "r2@x.test"]])
        #expect(found.messages.map(\.action) == [.plain])
        let signed = ProtectionRequest(sign: .require, encrypt: .never)
        #expect(try await plan(to: "bob@example.com", header: header, flags: signed).messages.map(\.action) == [.sign])
        await #expect(throws: MIMEError.limitExceeded(.addresses)) {
            try await plan(to: "bob@example.com", header: header, flags: ProtectionRequest(encrypt: .require))
        }
    }

    @Test func `text after a bare carriage return in the header is never sent in clear beside encrypted content`()
        async throws
    {
        let header = "From: alice@example.com\rTo: bob@example.com\r\rMeet me at nine."
        await #expect(throws: MessageError.defective(.bareCR)) { try await plan(to: "bob@example.com", header: header) }
        let plain = ProtectionRequest(sign: .never, encrypt: .never)
        #expect(try await plan(to: "bob@example.com", header: header, flags: plain).messages.count == 1)
    }

    @Test(arguments: ["X-A: b\u{C}Subject: c\n", "X-A: b\r\r\n", "From2: eve@x.test\n"])
    func `a header that programs may read differently is neither signed nor sent in clear`(field: String) async throws {
        let header = "\(field)From: alice@example.com\nTo: bob@example.com\n"
        await #expect(throws: MessageError.self) { try await plan(to: "bob@example.com", header: header) }
    }

    @Test func `a message that needs no change is sent byte for byte`() async throws {
        let header = "From: alice@example.com\r\nSubject:  odd \n folded\nTo: bob@example.com\n"
        let found = try await plan(
            to: "bob@example.com",
            header: header,
            flags: ProtectionRequest(sign: .never, encrypt: .never)
        )
        let sink = MemorySink()
        try found.write(try #require(found.messages.first), to: sink)
        #expect(sink.bytes == Array("\(header)\nMeet me at eight.\n".utf8))
    }

    @Test func `recipients that only look equal are different ones`() async throws {
        let names = ["é@x.test", "e\u{301}@x.test", "ö@x.test", "o\u{308}@x.test", "O@x.test"]
        #expect(names[0] == names[1] && names[2] == names[3])
        let sent = try await office.plan(from: "alice@example.com", to: names)
        #expect(sent.messages.flatMap(\.recipients).map { Array($0.text.utf8) } == names.map { Array($0.utf8) })
        let host = MailHost(name: try #require(HostName("gw.example.org")))
        let filter = IncomingFilter(store: office.store, time: Date.judged, host: host)
        let received = try await filter.plan(MemorySource(Array("From: a@y.test\n\nHello\n".utf8)), to: names)
        #expect(received.messages.flatMap(\.recipients).map { Array($0.utf8) } == names.map { Array($0.utf8) })
        let entry = DeliveryJournal.Entry(queueID: "q", digest: [1])
        try await office.store.journal.record([names[0], names[2]], of: entry, at: .judged)
        let waiting = try await office.store.journal.undelivered(names, for: entry)
        #expect(waiting.map { Array($0.utf8) } == [names[1], names[3], names[4]].map { Array($0.utf8) })
    }

    @Test func `nothing is sent if a required certificate is missing`() async throws {
        let found = try await plan(to: "bob@example.com", "eve@x.test", flags: ProtectionRequest(encrypt: .require))
        #expect(sharing(found) == [["bob@example.com"]])
        #expect(found.bounces.map(\.recipient.text) == ["eve@x.test"])
        #expect(found.bounces.first?.unmetRequirements == ["no usable certificate for eve@x.test (none is known)"])
    }

    @Test func `a mail is not sent if it bounces or waits for one recipient`() async throws {
        let all = try await plan(to: "bob@example.com", "p384@example.com")
        try all.checkSendable()
        let found = try await plan(to: "bob@example.com", "eve@x.test", flags: ProtectionRequest(encrypt: .require))
        let unmetRequirements = ["no usable certificate for eve@x.test (none is known)"]
        #expect(throws: GatewayError.refused(unmetRequirements: unmetRequirements)) { try found.checkSendable() }
        #expect(throws: GatewayError.deferred(unmetRequirements: unmetRequirements)) {
            try found.checkSendable(waitsForServices: true)
        }
        _ = try await office.store.policy.set(Policy.Rule(.global, missing: .deferral))
        let late = try await plan(to: "bob@example.com", "eve@x.test", flags: ProtectionRequest(encrypt: .require))
        #expect(throws: GatewayError.deferred(unmetRequirements: unmetRequirements)) { try late.checkSendable() }
    }

    @Test func `mail of a sender with two certificates announces the encryption certificate`() async throws {
        let split = try await TestHome.office(of: ["split"], knowing: [])
        let found = try await split.plan(from: "split@example.com", to: ["bob@example.com"])
        let verified = try await split.opener.verify(try found.source(0))
        let encryption = try Certificate(fixture: "split/encrypt-cert.pem")
        #expect(verified.learnable?.signerCertificate == (try Certificate(fixture: "split/cert.pem")))
        #expect(verified.learnable?.encryptionCertificate == encryption)
    }

    @Test(arguments: [
        "From: eve@x.test\nTo: bob@example.com\n",
        "From: alice@example.com\nFrom: alice@example.com\nTo: bob@example.com\n",
        "To: bob@example.com\n",
    ])
    func `mail from another author, or none, is not signed by the account`(_ header: String) async throws {
        let found = try await plan(to: "bob@example.com", header: header, flags: ProtectionRequest(encrypt: .never))
        #expect(found.messages.map(\.action) == [.plain])
    }
}
