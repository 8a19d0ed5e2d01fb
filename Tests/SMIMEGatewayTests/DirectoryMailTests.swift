import Foundation
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
}
