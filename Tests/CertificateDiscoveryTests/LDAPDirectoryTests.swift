import CertificateDiscovery
import Foundation
import PKIX
import TestSupport
import Testing

@Suite(.startsServer(.slapd)) struct LDAPDirectoryTests {
    private func values(
        _ url: String,
        _ server: DirectoryServer,
        startsTLS: Bool = true,
        isKnown: Bool = true,
        _ credentials: LDAPDirectory.Credentials? = nil,
        for address: String = "bob@example.com"
    ) throws -> [[UInt8]] {
        let directory = LDAPDirectory(
            url: try #require(LDAPURL(url)),
            startsTLS: startsTLS,
            authorities: isKnown ? server.authorities : nil,
            credentials: credentials
        )
        let deadline = ContinuousClock.now + .seconds(60)
        let answer = try directory.answer(about: address, by: directory.connect(until: deadline), until: deadline)
        #expect(answer.isComplete)
        return answer.values
    }

    @Test func `certificates are found with and without TLS, and by no pattern`() throws {
        let bob = try Certificate(fixture: "bob/cert.pem").der
        let server = try DirectoryServer([("bob@example.com", "userCertificate;binary", bob)])
        let base = "/dc=example,dc=com"
        #expect(try values(server.url + base, server, startsTLS: false) == [bob])
        #expect(try values(server.url + base, server) == [bob])
        #expect(try values(server.secureURL + base, server) == [bob])
        #expect(try values(server.secureURL + base, server, for: "*").isEmpty)
        #expect(try values(server.secureURL + base + "?mail", server) == [Array("bob@example.com".utf8)])
        #expect(try values(server.secureURL + base + "??base", server).isEmpty)
    }

    @Test func `at most a mebibyte is read`() throws {
        let value: [UInt8] = [0x04, 0x83, 0x03, 0xFF, 0] + [UInt8](repeating: 0, count: 0x3FF00)
        let server = try DirectoryServer(
            Array(repeating: ("bob@example.com", "userSMIMECertificate", value), count: 5)
        )
        let directory = LDAPDirectory(
            url: try #require(LDAPURL(server.url + "/dc=example,dc=com")),
            startsTLS: false,
            authorities: nil,
            credentials: nil
        )
        let deadline = ContinuousClock.now + .seconds(60)
        let answer = try directory.answer(
            about: "bob@example.com",
            by: directory.connect(until: deadline),
            until: deadline
        )
        #expect(answer.values == Array(repeating: value, count: 4) && !answer.isComplete)
        withExtendedLifetime(server) {}
    }

    @Test func `nothing is sent to a server with a foreign certificate`() throws {
        let server = try DirectoryServer([])
        for url in [server.url, server.secureURL] {
            #expect(throws: DiscoveryOutage.self) { try values(url + "/dc=example,dc=com", server, isKnown: false) }
        }
    }

    @Test func `a password is sent with TLS alone`() throws {
        let server = try DirectoryServer([])
        let folder = try TemporaryFolder()
        func credentials(_ password: String) throws -> LDAPDirectory.Credentials {
            let file = folder.file("password").path
            try Data(password.utf8).write(to: folder.file("password"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            return .init(name: "cn=admin,dc=example,dc=com", passwordFile: file)
        }
        let base = "/dc=example,dc=com"
        #expect(try values(server.secureURL + base, server, credentials("secret\n")).isEmpty)
        #expect(throws: DiscoveryOutage("the directory cannot be searched: Invalid credentials")) {
            try values(server.secureURL + base, server, credentials("wrong"))
        }
        #expect(throws: DiscoveryOutage.self) { try values(server.secureURL + base, server, credentials("\n")) }
        let clear = "a password is sent only with TLS (set lookup.ldap.starttls, or use an ldaps URL)"
        #expect(throws: DiscoveryOutage.fault(clear)) {
            try values(server.url + base, server, startsTLS: false, credentials("secret"))
        }
    }

    @Test func `a password that other users can read, or that is in no file, is not sent`() throws {
        let server = try DirectoryServer([])
        let folder = try TemporaryFolder()
        let (open, pipe) = (folder.file("open").path, folder.file("pipe").path)
        try Data("secret".utf8).write(to: folder.file("open"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        try #require(mkfifo(pipe, 0o600) == 0)
        for (file, why) in [
            (open, "other users have access to the password: chmod o= \(open)"),
            (pipe, "the password file is not a regular file"),
        ] {
            let credentials = LDAPDirectory.Credentials(name: "cn=admin,dc=example,dc=com", passwordFile: file)
            #expect(throws: DiscoveryOutage.fault("\(file): \(why)")) {
                try values(server.secureURL + "/dc=example,dc=com", server, credentials)
            }
        }
    }

    @Test func `errors name what is missing`() throws {
        let server = try DirectoryServer([])
        #expect(throws: DiscoveryOutage("the directory cannot be searched: No such object")) {
            try values(server.url + "/dc=nowhere", server)
        }
        let nowhere = "ldap://127.0.0.1:\(try freePort())/"
        #expect(throws: DiscoveryOutage("the directory cannot be searched: Can't contact LDAP server")) {
            try values(nowhere, server, startsTLS: false)
        }
    }

    @Test(arguments: ["ldap", "ldaps"], [true, false])
    func `a server that is silent is left in time`(_ scheme: String, _ startsTLS: Bool) throws {
        let silent = try LoopbackServer { _ in .silence }
        let directory = LDAPDirectory(
            url: try #require(LDAPURL("\(scheme)://127.0.0.1:\(silent.port)/")),
            startsTLS: startsTLS,
            authorities: nil,
            credentials: nil
        )
        let deadline = ContinuousClock.now + .milliseconds(500)
        #expect(throws: DiscoveryOutage.timeLimit) {
            _ = try directory.answer(about: "bob@example.com", by: directory.connect(until: deadline), until: deadline)
        }
    }

    private func directory(at server: LoopbackServer) throws -> LDAPDirectory {
        LDAPDirectory(
            url: try #require(LDAPURL("ldap://127.0.0.1:\(server.port)/")),
            startsTLS: false,
            authorities: nil,
            credentials: nil
        )
    }

    @Test func `the rest of an answer that is too large does not delay the next one`() throws {
        let value = [UInt8](repeating: 0, count: 0x3FF00)
        // The large answer never ends, and nothing else is answered on its connection.
        let server = try LoopbackServer.answering { request in
            guard DirectoryMessage.contains("eve@", in: request) else {
                return .bytes(DirectoryMessage.end(to: request))
            }
            let entry = DirectoryMessage.entry(value, to: request)
            return .bytesThenSilence(Array(repeatElement(entry, count: 5).joined()))
        }
        var session = try LDAPSession(directory(at: server), until: .now + .seconds(60))
        let large = try session.answer(about: "eve@example.com")
        #expect(large.values.count == 4 && !large.isComplete)
        let next = try session.answer(about: "bob@example.com")
        #expect(next.values.isEmpty && next.isComplete)
        // After the last connection the others have to wait for their turn.
        var full = try LDAPSession(directory(at: server), until: .now + .seconds(60))
        for _ in 0..<4 { _ = try full.answer(about: "eve@example.com") }
        do throws(DiscoveryOutage) {
            _ = try full.answer(about: "bob@example.com")
            Issue.record("there was a fifth connection")
        } catch { #expect(error.isMissedTurn && error.holdsMail) }
    }

    @Test func `an answer that does not arrive in time is told from a silent server`() throws {
        let server = try LoopbackServer.answering { request in
            let entry = DirectoryMessage.entry([UInt8](repeating: 0, count: 1 << 20), to: request)
            return .bytesThenSilence(Array(entry.prefix(1 << 18)))
        }
        let directory = try directory(at: server)
        let deadline = ContinuousClock.now + .seconds(3)
        #expect(throws: DiscoveryOutage.readingTooLong) {
            _ = try directory.answer(about: "bob@example.com", by: directory.connect(until: deadline), until: deadline)
        }
    }
}
