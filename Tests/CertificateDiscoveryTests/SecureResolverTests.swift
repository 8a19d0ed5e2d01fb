import CertificateDiscovery
import Foundation
import TestSupport
import Testing

@Suite(.startsServer(.bind)) struct SecureResolverTests {
    private let bob: String
    private let carol: String

    init() throws {
        bob = try SMIMEAName.name(of: "bob", at: "example.com")
        carol = try SMIMEAName.name(of: "carol", at: "example.com")
    }

    private func server(isForged: Bool = false) throws -> NameServer {
        let label = String(try #require(bob.split(separator: ".").first))
        return try NameServer([("\(label)._smimecert", [3, 0, 0, 1, 2, 3])], isForged: isForged)
    }

    /// The answers of `server`. On a busy machine libunbound gives up queries that `server` answers too late, so it is asked
    /// again.
    private func answers(
        _ server: NameServer,
        about names: [String],
        anchors: String? = nil
    ) throws -> [SecureResolver.Answer] {
        let resolver = SecureResolver(resolver: server.address, anchors: anchors ?? server.anchors)
        let serverFailure = SecureResolver.Answer.outage(DiscoveryOutage("DNS gives no answer (RCODE 2)"))
        var found: [SecureResolver.Answer] = []
        for _ in 0..<5 {
            found = try resolver.answers(about: names, until: .now + .seconds(60))
            guard found.contains(serverFailure) else { break }
        }
        return found
    }

    @Test func `what a signed zone has counts, and that it has nothing`() throws {
        let found = try answers(try server(), about: [bob, carol])
        guard case .records([[3, 0, 0, 1, 2, 3]], let lifetime) = found.first else {
            Issue.record("\(found)")
            return
        }
        #expect(lifetime > .seconds(200) && lifetime <= .seconds(300))
        guard case .some(.none(lifetime: .seconds(60))) = found.last else {
            Issue.record("\(found)")
            return
        }
    }

    @Test func `a zone without DNSSEC says nothing`() throws {
        let name = try SMIMEAName.name(of: "bob", at: "unsigned.example.net")
        #expect(try answers(try server(), about: [name]) == [.unsigned])
    }

    @Test func `a zone that was changed is no answer`() throws {
        let bogus = DiscoveryOutage("the DNS answer fails DNSSEC validation")
        #expect(try answers(try server(isForged: true), about: [bob]) == [.outage(bogus)])
    }

    @Test func `a server that is away is no answer, in time`() throws {
        // The server's folder contains the trust anchors and is removed with the server.
        let running = try server()
        let resolver = SecureResolver(resolver: "127.0.0.1@\(try freePort())", anchors: running.anchors)
        let found = try withExtendedLifetime(running) {
            try resolver.answers(about: [bob], until: .now + .milliseconds(500))
        }
        guard case .outage = found.first else {
            Issue.record("\(found)")
            return
        }
        // With an empty file, which may be half-written, no zone would seem to be signed.
        let folder = try TemporaryFolder()
        for (name, text) in [
            ("empty", ""), ("comment", "; . IN DS 20326 8 2 E06D\n"), ("other", ". IN NS a.example.\n"),
        ] {
            try Data(text.utf8).write(to: folder.file(name))
        }
        let why = "the trust anchors for DNSSEC cannot be read (Debian: apt install dns-root-data)"
        for file in ["/nowhere"] + ["empty", "comment", "other"].map({ folder.file($0).path }) {
            #expect(throws: DiscoveryOutage.fault(why)) {
                try answers(try server(), about: [bob], anchors: file)
            }
        }
    }
}
