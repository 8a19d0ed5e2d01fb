import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

@Suite(.startsServer(.slapd)) struct DirectoryMailTests {
    @Test func `mail is encrypted to what a directory has, and waits while it is away if it must be`() async throws {
        let office = try await TestHome.office()
        let settings = office.store.settings
        var server: DirectoryServer? = try DirectoryServer([
            ("carol@example.com", "userSMIMECertificate", try Certificate(fixture: "carol/cert.pem").der),
            ("eve@example.com", "userCertificate;binary", try Certificate(fixture: "carol/cert.pem").der),
        ])
        let url = try #require(server?.secureURL) + "/dc=example,dc=com"
        try await settings.set("lookup.ldap", to: url)
        try await settings.set("lookup.ldap.ca-file", to: server?.authorities)
        let found = try await office.plan(from: "alice@example.com", to: ["carol@example.com"])
        #expect(found.decisions.map(\.action) == [.signAndEncrypt])
        #expect(found.sources.values.map(\.rawValue) == ["ldap"])
        // A certificate for another address is not used.
        let other = try await office.plan(from: "alice@example.com", to: ["eve@example.com"])
        #expect(other.decisions.map(\.action) == [.sign])
        server = nil
        // Found certificates are cached; addresses that have not been looked up are unknown.
        let kept = try await office.plan(from: "alice@example.com", to: ["carol@example.com"])
        #expect(kept.decisions.map(\.action) == [.signAndEncrypt])
        let clear = try await office.plan(from: "alice@example.com", to: ["dana@example.com"])
        #expect(clear.decisions.map(\.action) == [.sign])
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .require))
        let required = try await office.plan(from: "alice@example.com", to: ["dana@example.com"])
        #expect(required.decisions.map(\.action) == [.deferral])
    }

    @Test func `an answer that ends at a limit leaves open whether there is a certificate`() async throws {
        let office = try await TestHome.office()
        let carol = try Certificate(fixture: "carol/cert.pem").der
        // At most 20 entries are read of a search, and at most 256 KiB of a value.
        let many: [(address: String, attribute: String, value: [UInt8])] = Array(
            repeating: ("dana@example.com", "userCertificate;binary", carol),
            count: 21
        )
        let big: [UInt8] = [0x04, 0x83, 0x04, 0, 0] + [UInt8](repeating: 0, count: 0x40000)
        let server = try DirectoryServer(
            many + [
                ("carol@example.com", "userSMIMECertificate", carol),
                ("carol@example.com", "userSMIMECertificate", big),
                ("eve@example.com", "userCertificate;binary", carol),
            ]
        )
        try await office.store.settings.set("lookup.ldap", to: server.secureURL + "/dc=example,dc=com")
        try await office.store.settings.set("lookup.ldap.ca-file", to: server.authorities)
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .require))
        func decision(_ recipient: String) async throws -> PolicyDecision {
            let plan = try await office.plan(from: "alice@example.com", to: [recipient])
            return try #require(plan.decisions.first)
        }
        let why = "the source ldap cannot be asked: it has more entries or certificates for the address than are read"
        let dana = try await decision("dana@example.com")
        #expect(dana.action == .deferral)
        #expect(dana.reasons.contains { $0.contains(why) })
        // Anyone who can add entries could otherwise make the mail leave in clear.
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .available))
        #expect(try await decision("dana@example.com").action == .deferral)
        #expect(try await decision("eve@example.com").action != .deferral)
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .require))
        // A usable certificate is used, whatever the rest of the answer is.
        #expect(try await decision("carol@example.com").action == .signAndEncrypt)
        #expect(try await decision("eve@example.com").action == .bounce)
        withExtendedLifetime(server) {}
    }

    @Test func `an entry that is too large to be received holds the mail to its address alone`() async throws {
        let office = try await TestHome.office()
        let carol = try Certificate(fixture: "carol/cert.pem").der
        // libldap ends the connection, because it receives messages of at most 4 MiB.
        let big: [UInt8] = [0x04, 0x83, 0x44, 0, 0] + [UInt8](repeating: 0, count: 0x440000)
        let server = try DirectoryServer([
            ("eve@example.com", "userSMIMECertificate", big),
            ("carol@example.com", "userSMIMECertificate", carol),
        ])
        try await office.store.settings.set("lookup.ldap", to: server.secureURL + "/dc=example,dc=com")
        try await office.store.settings.set("lookup.ldap.ca-file", to: server.authorities)
        try await office.store.settings.set("lookup.ldap.timeout", to: "30s")
        try await office.store.settings.set("lookup.budget", to: "60s")
        let people = ["eve@example.com", "carol@example.com", "dana@example.com"]
        var actions: [String: PolicyDecision.Action] = [:]
        for decision in try await office.plan(from: "alice@example.com", to: people).decisions {
            actions[decision.recipient.text] = decision.action
        }
        #expect(actions == [people[0]: .deferral, people[1]: .signAndEncrypt, people[2]: .sign])
        withExtendedLifetime(server) {}
    }
}
