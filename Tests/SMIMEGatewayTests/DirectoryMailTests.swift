import CertificateDiscovery
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
        // The server's folder, with its authorities, is removed with the server.
        let folder = try TemporaryFolder()
        let authorities = folder.file("authorities.pem").path
        try FileManager.default.copyItem(atPath: #require(server?.authorities), toPath: authorities)
        try await settings.set("lookup.ldap.ca-file", to: authorities)
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
        // If the fault is on this host, mail waits.
        try await settings.set("lookup.ldap.ca-file", to: folder.file("missing.pem").path)
        let faulty = try await office.plan(from: "alice@example.com", to: ["erin@example.com"])
        #expect(faulty.decisions.map(\.action) == [.deferral])
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

    /// A directory on `server`, as a source.
    private func source(at server: LoopbackServer) throws -> LDAPSource {
        let url = "ldap://127.0.0.1:\(server.port)/"
        let directory = LDAPDirectory(
            url: try #require(LDAPURL(url)),
            startsTLS: false,
            authorities: nil,
            credentials: nil
        )
        return LDAPSource(directory, url: url, timeLimit: .seconds(4))
    }

    @Test func `an answer that takes too long to arrive is no outage of the directory`() throws {
        let server = try LoopbackServer.answering { request in
            let entry = DirectoryMessage.entry([UInt8](repeating: 0, count: 1 << 20), to: request)
            return .bytesThenSilence(Array(entry.prefix(1 << 18)))
        }
        let (eve, bob) = (try AddressScope("eve@example.com"), try AddressScope("bob@example.com"))
        let answer = try source(at: server).search(for: [eve, bob], until: .now + .seconds(4))
        // Mail to both waits. Eve's address is not asked about for a while, and Bob's is the first one the next time.
        #expect([eve, bob].allSatisfy { answer.outages[$0]?.holdsMail == true })
        #expect(answer.late == [eve] && answer.unasked == [bob])
    }

    @Test func `values that cannot be read hold mail, and hide no others`() throws {
        let bob = try Certificate(fixture: "bob/cert.pem").der
        let torn = Array(bob.prefix(300))
        for (values, isFound) in [([torn], false), ([torn, bob], true)] {
            let server = try LoopbackServer.answering { request in
                let entries = values.flatMap { DirectoryMessage.entry($0, to: request) }
                return .bytesThenSilence(entries + DirectoryMessage.end(to: request))
            }
            let scope = try AddressScope("bob@example.com")
            let answer = try source(at: server).search(for: [scope], until: .now + .seconds(60))
            #expect(answer.found.isEmpty != isFound)
            // Mail waits only if no certificate that was found is usable.
            #expect(answer.outages[scope]?.holdsMail == true)
        }
    }

    @Test func `silence after an answer about another address is no outage of the directory`() throws {
        // 32 (noSuchObject): the server answers nothing else on this connection.
        let server = try LoopbackServer.answering { .bytesThenSilence(DirectoryMessage.end(to: $0, code: 32)) }
        let (eve, bob) = (try AddressScope("eve@example.com"), try AddressScope("bob@example.com"))
        let answer = try source(at: server).search(for: [eve, bob], until: .now + .seconds(4))
        #expect(Set(answer.outages.keys) == [eve, bob])
        #expect(!answer.late.contains(eve) && !answer.unasked.contains(eve))
    }
}
