import CertificateDiscovery
import Foundation
import PKIX
import TestSupport
import Testing

/// Realistic responders and distribution points: `openssl ocsp`, and a web server with lists.
@Suite struct RevocationFetcherTests {
    /// A long time limit, because the machine may be busy with hundreds of other tests.
    private static let client = HTTPClient(timeLimit: .seconds(3600), allowsPrivateAddresses: true)

    /// A chain whose leaf names `services`, given as lines of its extensions.
    private func makeChain(_ services: [String]) throws -> CertificateFactory {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: person + services)
        try factory.issue("other", subject: "/CN=other", by: "ca", extensions: person)
        try factory.issue("liar", subject: "/CN=CA", extensions: CertificateFactory.authority)
        return factory
    }

    /// The revocation status of the leaf after asking.
    private func verdict(
        _ factory: borrowing CertificateFactory,
        _ fetcher: RevocationFetcher,
        policy: RevocationPolicy = .hard,
        trusted: Bool = true
    ) async throws -> ChainVerdict.Revocation? {
        let (leaf, ca) = (try factory.certificate("leaf"), try factory.certificate("ca"))
        // Not before the time of the answers: on a busy machine the test may have waited long.
        let date = max(leaf.notBefore.addingTimeInterval(600), .now)
        var store = trusted ? TrustStore(anchors: [ca]) : TrustStore(intermediates: [ca])
        store.options = ValidationOptions(revocation: policy)
        let first = store.judge(leaf, purpose: .signing, at: date)
        store.options = await store.options.asking(fetcher, about: [first], at: date)
        return store.judge(leaf, purpose: .signing, at: date).revocation
    }

    /// A chain whose leaf names a responder, and `openssl ocsp` as that responder. It answers one request, from an index in
    /// which `name` has `status`.
    private func makeChain(withResponderAbout name: String, _ status: String) throws -> CertificateFactory {
        var failure: any Error = CocoaError(.featureUnsupported)
        for _ in 0..<10 {
            let port = try freePort()
            let factory = try makeChain(["authorityInfoAccess=OCSP;URI:http://127.0.0.1:\(port)/"])
            do {
                try startResponder(port, about: name, status, in: factory)
                return factory
            } catch {
                // Another process may have taken the port meanwhile.
                failure = error
            }
        }
        throw failure
    }

    /// - Throws: an error if the responder does not begin to listen.
    private func startResponder(
        _ port: UInt16,
        about name: String,
        _ status: String,
        in factory: borrowing CertificateFactory
    ) throws {
        try factory.sh(
            """
            printf '\(status)\\t491231235959Z\\t\(status == "R" ? "250101000000Z" : "")\\t%s\\tunknown\\t/CN=x\\n' \
            "$(openssl x509 -in \(name).pem -noout -serial | cut -d= -f2)" >index
            : >responder.log
            timeout 7200 openssl ocsp -port \(port) -nrequest 1 -index index -CA ca.pem -rsigner ca.pem -rkey ca.key -ndays 7 \
            </dev/null >responder.log 2>&1 &
            for i in $(seq 600); do
                grep -q error responder.log && break
                grep -qE 'waiting|ACCEPT' responder.log && exit 0
                sleep 0.1
            done
            cat responder.log >&2; exit 1
            """
        )
    }

    /// A port that is currently unused.
    private func freePort() throws -> UInt16 {
        let server = try LoopbackServer { _ in .silence }
        server.stop()
        return server.port
    }

    @Test(arguments: [("V", ChainVerdict.Revocation.Status.good), ("R", .revoked)])
    func `a responder is asked`(status: String, expected: ChainVerdict.Revocation.Status) async throws {
        let factory = try makeChain(withResponderAbout: "leaf", status)
        let fetcher = RevocationFetcher(Self.client)
        #expect(try await verdict(factory, fetcher)?.status == expected)
        let outages = await fetcher.outages
        #expect(outages == [], "\(outages)")
        // The responder has ended; the answer is cached.
        #expect(try await verdict(factory, fetcher)?.status == expected)
        // The certificate and the validity period of the answer to be stored.
        let leaf = try factory.certificate("leaf")
        let kept = await fetcher.responses
        let subject = try OCSPResponse.Subject(leaf, issuedBy: factory.certificate("ca"))
        #expect(kept.map(\.certificate) == [subject])
        let lifetime = try #require(kept.first?.lifetime)
        if expected == .revoked {
            #expect(lifetime.until == OCSPResponse.Lifetime.endless)
        } else {
            #expect(abs(lifetime.until.timeIntervalSince(lifetime.since) - 7 * 86_400) <= 1)
        }
    }

    @Test func `a response about another certificate is ignored`() async throws {
        let factory = try makeChain(withResponderAbout: "other", "V")
        let fetcher = RevocationFetcher(Self.client)
        let verdict = try await verdict(factory, fetcher)
        #expect(verdict?.status == .unknown)
        #expect(verdict?.problems.map(\.code) == ["revocation-unknown"])
        #expect(await fetcher.outages.count == 1)
        #expect(await fetcher.responses == [])
    }

    @Test(arguments: [(["leaf"], ChainVerdict.Revocation.Status.revoked), (["other"], .good)])
    func `a revocation list is fetched once`(revoked: [String], expected: ChainVerdict.Revocation.Status) async throws {
        let lists = Lists()
        let server = try LoopbackServer { .ok(lists[$0]) }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        try factory.revoke(revoked, by: "ca", to: "ca")
        lists.put(try factory.bytes("ca.crl"))
        let fetcher = RevocationFetcher(Self.client)
        #expect(try await verdict(factory, fetcher)?.status == expected)
        #expect(try await verdict(factory, fetcher, policy: .soft)?.status == expected)
        #expect(server.asked.count == 1)
        #expect(await fetcher.certificateLists.count == 1)
        #expect(await fetcher.outages == [])
    }

    @Test func `simultaneous identical requests share one response`() async throws {
        let lists = Lists()
        let server = try LoopbackServer { path in
            while lists[path].isEmpty { usleep(10_000) }
            return .ok(lists[path])
        }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        try factory.revoke(["leaf"], by: "ca", to: "ca")
        let (leaf, ca) = (try factory.certificate("leaf"), try factory.certificate("ca"))
        let fetcher = RevocationFetcher(Self.client)
        let askers = (0..<5).map { _ in
            Task { await fetcher.evidence(on: [leaf, ca], at: [0], date: leaf.notBefore).certificateLists.count }
        }
        while server.asked.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        // One of the tasks is cancelled while it waits.
        askers[0].cancel()
        #expect(await askers[0].value == 0)
        try await Task.sleep(for: .milliseconds(300))
        lists.put(try factory.bytes("ca.crl"))
        for asker in askers.dropFirst() { #expect(await asker.value == 1) }
        #expect(server.asked.count <= 2)
    }

    @Test(arguments: [(true, ChainVerdict.Revocation.Status.revoked), (false, .good)])
    func `a delta list is fetched from the URL that the list names`(
        isNamed: Bool,
        expected: ChainVerdict.Revocation.Status
    ) async throws {
        let (lists, deltas) = (Lists(), Lists())
        let server = try LoopbackServer { .ok($0 == "ca.crl" ? lists[$0] : deltas[$0]) }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        let extensions = isNamed ? ["freshestCRL=URI:\(server.url("delta.crl"))"] : []
        try factory.revoke(["other"], by: "ca", to: "ca", extensions: extensions)
        lists.put(try factory.bytes("ca.crl"))
        try factory.sh("echo 02 >delta.number")
        try factory.revoke(["leaf"], by: "ca", to: "delta", extensions: ["2.5.29.27=critical,DER:020101"])
        deltas.put(try factory.bytes("delta.crl"))
        let fetcher = RevocationFetcher(Self.client)
        #expect(try await verdict(factory, fetcher)?.status == expected)
        #expect(server.asked.count == (isNamed ? 2 : 1))
        #expect(await fetcher.certificateLists.count == (isNamed ? 2 : 1))
    }

    @Test func `the URLs in an unsigned list are not followed`() async throws {
        let lists = Lists()
        let server = try LoopbackServer { .ok(lists[$0]) }
        var factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        try factory.issue("stranger", subject: "/CN=Stranger", extensions: CertificateFactory.authority)
        let extensions = ["freshestCRL=URI:\(server.url("delta.crl"))"]
        try factory.revoke(["other"], by: "stranger", to: "stranger", extensions: extensions)
        lists.put(try factory.bytes("stranger.crl"))
        #expect(try await verdict(factory, RevocationFetcher(Self.client))?.status == .unknown)
        #expect(server.asked == ["GET /ca.crl HTTP/1.0"])
    }

    @Test func `a list signed by another authority is neither used nor kept`() async throws {
        let lists = Lists()
        let server = try LoopbackServer { .ok(lists[$0]) }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        try factory.revoke(["leaf"], by: "liar", to: "liar")
        lists.put(try factory.bytes("liar.crl"))
        let fetcher = RevocationFetcher(Self.client)
        #expect(try await verdict(factory, fetcher)?.status == .unknown)
        #expect(await fetcher.certificateLists.isEmpty)
        #expect(await fetcher.outages.count == 1)
    }

    @Test func `a list is fetched if the responder fails, and a missing list is a note or an error`() async throws {
        let lists = Lists()
        let server = try LoopbackServer {
            $0 == "ca.crl" ? .ok(lists[$0]) : .bytes(Array("HTTP/1.0 500 No\r\n\r\n".utf8))
        }
        let factory = try makeChain([
            "authorityInfoAccess=OCSP;URI:\(server.url("ocsp"))", "crlDistributionPoints=URI:\(server.url("ca.crl"))",
        ])
        let failing = RevocationFetcher(Self.client)
        #expect(try await verdict(factory, failing, policy: .soft)?.problems.map(\.level) == [.warning])
        #expect(try await verdict(factory, failing, policy: .hard)?.problems.map(\.level) == [.error])
        #expect(await failing.outages.map(\.url) == [server.url("ocsp"), server.url("ca.crl")])
        try factory.revoke(["leaf"], by: "ca", to: "ca")
        lists.put(try factory.bytes("ca.crl"))
        #expect(try await verdict(factory, RevocationFetcher(Self.client))?.status == .revoked)
    }

    @Test func `questions that are not asked because there are too many are an outage`() async throws {
        let server = try LoopbackServer { _ in .bytes(Array("HTTP/1.0 500 No\r\n\r\n".utf8)) }
        var factory = try makeChain([])
        let ca = try factory.certificate("ca")
        let fetcher = RevocationFetcher(Self.client)
        // At most four lists of a certificate are asked for.
        for number in 0...RevocationFetcher.maximumQuestions / 4 {
            let urls = (0..<4).map { "URI:\(server.url("\(number)-\($0).crl"))" }.joined(separator: ",")
            try factory.issue("\(number)", subject: "/CN=x", by: "ca", extensions: ["crlDistributionPoints=\(urls)"])
            let leaf = try factory.certificate("\(number)")
            #expect(await fetcher.evidence(on: [leaf, ca], at: [0], date: leaf.notBefore).isEmpty)
        }
        #expect(server.asked.count == RevocationFetcher.maximumQuestions)
        #expect(await fetcher.outages.filter { $0.error == .questionLimit }.count == 1)
    }

    @Test func `no service is asked about an untrusted chain, or with revocation off`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        let fetcher = RevocationFetcher(Self.client)
        _ = try await verdict(factory, fetcher, trusted: false)
        #expect(try await verdict(factory, fetcher, policy: .off) == nil)
        #expect(server.asked.isEmpty)
        #expect(await fetcher.outages == [])
    }

    @Test func `a silent host is asked once, however many of its URLs a certificate names`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let urls = (0..<20).map { "URI:\(server.url("\($0).crl"))" }.joined(separator: ",")
        let responders = (0..<20).map { "OCSP;URI:\(server.url("ocsp\($0)"))" }.joined(separator: ",")
        let factory = try makeChain(["crlDistributionPoints=\(urls)", "authorityInfoAccess=\(responders)"])
        let fetcher = RevocationFetcher(HTTPClient(timeLimit: .seconds(1), allowsPrivateAddresses: true))
        #expect(try await verdict(factory, fetcher)?.status == .unknown)
        #expect(server.asked.count <= 1)
        #expect(await fetcher.outages.map(\.error) == [.timeLimit])
        #expect(await fetcher.silentServices == ["127.0.0.1:\(server.port)"])
        // The server failed to answer a moment ago.
        let next = RevocationFetcher(Self.client, silentServices: ["127.0.0.1:\(server.port)": .now])
        #expect(try await verdict(factory, next)?.status == .unknown)
        #expect(server.asked.count <= 1)
        #expect(await next.outages.count == 1)
    }

    @Test func `all services together delay one verdict for a limited time, and the next verdict asks the rest`()
        async throws
    {
        let servers = try (0..<3).map { _ in try LoopbackServer { _ in .silence } }
        let urls = servers.map { "URI:\($0.url("ca.crl"))" }.joined(separator: ",")
        let factory = try makeChain(["crlDistributionPoints=\(urls)"])
        let (leaf, ca) = (try factory.certificate("leaf"), try factory.certificate("ca"))
        let fetcher = RevocationFetcher(HTTPClient(timeLimit: .seconds(2), allowsPrivateAddresses: true))
        let verdict = VerdictRevocation(timeLimit: .seconds(2)) { fetcher }
        for _ in 0..<2 { #expect(await verdict.evidence(on: [leaf, ca], at: [0], date: leaf.notBefore).isEmpty) }
        #expect(await fetcher.outages.map(\.error) == [.timeLimit, .verdictTimeLimit, .verdictTimeLimit])
        #expect(await fetcher.silentServices == ["127.0.0.1:\(servers[0].port)"])
        #expect(servers[1].asked.isEmpty && servers[2].asked.isEmpty)
        let next = VerdictRevocation(timeLimit: .seconds(2)) { fetcher }
        _ = await next.evidence(on: [leaf, ca], at: [0], date: leaf.notBefore)
        #expect(await fetcher.silentServices.contains("127.0.0.1:\(servers[1].port)"))
        #expect(servers[0].asked.count <= 1)
    }

    @Test func `no private address is contacted without permission`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let factory = try makeChain(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        let fetcher = RevocationFetcher()
        #expect(try await verdict(factory, fetcher)?.status == .unknown)
        #expect(await fetcher.outages.map(\.error) == [.privateAddress])
        #expect(server.asked.isEmpty)
    }
}
