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

/// Without explicit options, a filter follows the store's settings, like `smime filter`.
@Suite struct FilterSettingsTests {
    private static let bob = "bob@example.com"

    private func cipher(of plan: OutgoingPlan, _ office: TestHome) async throws -> String? {
        try await office.opener.verify(try plan.source(0)).report.layers.first?.algorithm
    }

    private func text(_ source: any ByteSource) throws -> String {
        String(decoding: try source.bytes(in: 0..<source.count), as: UTF8.self)
    }

    @Test(arguments: [
        (["encryption.unknown": "aes-256-cbc"], "aes-256-cbc"),
        (["encryption.unknown": "aes-128-gcm bob@example.com=aes-192-cbc"], "aes-192-cbc"),
        (["encryption.unknown": "aes-128-cbc", "encryption.floor": "aes-256-gcm"], "aes-256-gcm"),
    ])
    func `cipher settings and the cipher floor apply`(_ settings: [String: String], _ expected: String) async throws {
        let office = try await TestHome.office()
        for (key, value) in settings { try await office.store.settings.set(key, to: value) }
        let plan = try await office.plan(from: "alice@example.com", to: [Self.bob])
        #expect(try await cipher(of: plan, office) == expected)
    }

    @Test func `the setting for subject tags applies`() async throws {
        let office = try await TestHome.office()
        try await office.store.settings.set("subject-tags", to: "[open] encrypt=never; sign=never")
        let header = "From: alice@example.com\nTo: bob@example.com\nSubject: [open] [sign] Hello\n"
        let plan = try await office.plan(from: "alice@example.com", to: [Self.bob], header: header)
        #expect(plan.decisions.map(\.action) == [.plain])
        #expect(try text(plan.source(0)).contains("\nSubject: [sign] Hello\n"))
    }

    @Test func `the setting for the certificate folder applies`() async throws {
        let office = try await TestHome.office()
        let folder = try office.folder("people", ["carol@example.com.pem": Fixtures.cert("carol/cert.pem")])
        let before = try await office.plan(from: "alice@example.com", to: ["carol@example.com"])
        #expect(before.decisions.map(\.action) == [.sign])
        try await office.store.settings.set("lookup.directory", to: folder)
        let after = try await office.plan(from: "alice@example.com", to: ["carol@example.com"])
        #expect(after.decisions.map(\.action) == [.signAndEncrypt])
        try await office.store.settings.set("lookup.order", to: "registry")
        let without = try await office.plan(from: "alice@example.com", to: ["carol@example.com"])
        #expect(without.decisions.map(\.action) == [.sign])
    }

    @Test func `the setting for the revocation folder applies in both directions`() async throws {
        let office = try await TestHome.office(of: ["revoked"])
        let mail = try await office.plan(from: "revoked@example.com", to: ["eve@x.test"])
        #expect(mail.decisions.map(\.action) == [.sign])
        let source = try mail.source(0)
        #expect(try await incoming(source, office).report.status == .valid)
        let lists = try office.folder("lists", ["ca.crl": Fixtures.cert("revoked/crl.pem"), "README": [1, 2, 3]])
        try await office.store.settings.set("revocation.directory", to: lists)
        let refused = try await office.plan(from: "revoked@example.com", to: ["eve@x.test"])
        #expect(refused.decisions.map(\.action) == [.plain])
        #expect(try await incoming(source, office).report.status == .revoked)
        let unheeded = ValidationOptions(revocation: .off)
        let sent = try await office.plan(from: "revoked@example.com", to: ["eve@x.test"], options: unheeded)
        #expect(sent.decisions.map(\.action) == [.sign])
        try await office.store.settings.set("revocation.directory", to: "/nowhere")
        // A missing list does not stop mail, but is reported; with hard revocation checking it stops mail.
        let passed = try await office.plan(from: "revoked@example.com", to: ["eve@x.test"])
        #expect(passed.decisions.map(\.action) == [.sign])
        let report = try await incoming(source, office).report
        #expect(report.status == .valid)
        #expect(report.signers.first?.revocation.problems.contains { $0.kind == .crlUnreadable } == true)
        await #expect(throws: SettingError.folderUnreadable(path: "/nowhere")) {
            try await office.plan(
                from: "revoked@example.com",
                to: ["eve@x.test"],
                options: ValidationOptions(revocation: .hard)
            )
        }
    }

    private func incoming(_ source: any ByteSource, _ office: TestHome) async throws -> IncomingPlan {
        let host = MailHost(name: try #require(HostName("gw.example.org")))
        let filter = IncomingFilter(store: office.store, time: Date.judged, host: host)
        return try await filter.plan(source, to: [Self.bob])
    }

    @Test func `the setting for verdicts in the subject applies`() async throws {
        let office = try await TestHome.office()
        let mail = try await office.plan(
            from: "alice@example.com",
            to: ["eve@x.test"],
            header: "From: alice@example.com\nSubject: Hi\n"
        )
        let source = try mail.source(0)
        try await office.store.settings.set("filter.tags", to: "on")
        let delivered = try #require(try await incoming(source, office).messages.first).source
        #expect(try text(delivered).contains("\nSubject: [signed: alice@example.com] Hi\n"))
    }

    @Test(arguments: [
        Setting.encryptionUnknown, .encryptionFloor, .headerConfidentiality, .headerProtection, .lookupOrder,
        .subjectTags,
    ])
    func `with an invalid setting no mail passes`(_ setting: Setting) async throws {
        let office = try await TestHome.office()
        try await office.store.settings.set(setting.rawValue, to: "[of tomorrow")
        await #expect(throws: SettingError.notUnderstood(setting)) {
            try await office.plan(from: "alice@example.com", to: [Self.bob])
        }
    }

    @Test func `settings for the gateway's name, online services and decrypted mail apply`() async throws {
        let office = try await TestHome.office()
        let services = try await office.store.revocationServices()
        #expect(!services.areAsked && !services.allowsPrivateAddresses && services.timeLimit == .seconds(5))
        #expect(try await office.store.decryptedSender() == .null)
        try await office.store.settings.set("revocation.online", to: "on")
        try await office.store.settings.set("revocation.timeout", to: "300ms")
        try await office.store.settings.set("filter.authserv-id", to: "gw.example.org")
        try await office.store.settings.set("filter.decrypted-sender", to: "postmaster@example.com")
        #expect(try await office.store.revocationServices().areAsked)
        #expect(try await office.store.revocationServices().timeLimit == .milliseconds(300))
        #expect(try await office.store.mailHost().name == "gw.example.org")
        #expect(try await office.store.decryptedSender().text == "postmaster@example.com")
    }
}
