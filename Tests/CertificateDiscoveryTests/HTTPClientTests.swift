import CertificateDiscovery
import Foundation
import TestSupport
import Testing

/// Whatever the peer does, a request ends, and only a complete DER element is accepted.
@Suite struct HTTPClientTests {
    private let client = HTTPClient(timeLimit: .milliseconds(700), maximumCount: 1 << 20, allowsPrivateAddresses: true)
    private let patient = HTTPClient(timeLimit: .seconds(60), maximumCount: 1 << 20, allowsPrivateAddresses: true)

    private func ask(
        _ reply: LoopbackServer.Reply,
        _ client: HTTPClient
    ) async throws -> Result<[UInt8], RevocationError> {
        let server = try LoopbackServer { _ in reply }
        return await client.ask(try #require(ServiceURL(server.url("x"))), expecting: "application/pkix-crl")
    }

    @Test func `the body of a response is returned unchanged`() async throws {
        let element: [UInt8] = [0x30, 0x03, 0x02, 0x01, 0x05]
        let server = try LoopbackServer { _ in .ok(element) }
        let url = try #require(ServiceURL(server.url("a/b?c")))
        #expect(await patient.ask(url) == .success(element))
        #expect(await patient.ask(url, posting: (type: "a/b", bytes: [1, 2, 3])) == .success(element))
        #expect(server.asked == ["GET /a/b?c HTTP/1.0", "POST /a/b?c HTTP/1.0"])
    }

    @Test func `an error has a readable description`() {
        #expect(RevocationError.timeLimit.localizedDescription == "no answer in time")
        #expect(RevocationError.badAnswer("404").localizedDescription == "its answer cannot be used: 404")
    }

    @Test func `a response header without an end is an error`() async throws {
        // Ended by the time limit or by libcrypto's limit of header lines, whichever comes first.
        let answer = try await ask(.endlessHeader, client)
        #expect(throws: (any Error).self) { try answer.get() }
    }

    @Test(arguments: [LoopbackServer.Reply.silence, .trickle])
    func `a response that takes too long is an error`(reply: LoopbackServer.Reply) async throws {
        #expect(try await ask(reply, client) == .failure(.timeLimit))
    }

    @Test func `malformed and endless HTTP responses are rejected`() async throws {
        func head(_ lines: String) -> [UInt8] { Array((lines + "\r\n\r\n").utf8) }
        let element: [UInt8] = [0x30, 0x03, 0x02, 0x01, 0x05]
        let type = "Content-Type: application/pkix-crl"
        let lies: [LoopbackServer.Reply] = [
            .flood(100 << 20), .bytes([]), .bytes(Array("garbage".utf8)), .ok(element, type: "text/html"),
            .bytes(head("HTTP/1.0 404 Not Found\r\n\(type)") + element),
            .bytes(head("HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/") + element),
            .bytes(head("HTTP/1.0 200 OK\r\n\(type)\r\nContent-Length: 104857600") + element),
            .bytes(head("HTTP/1.0 200 OK\r\n\(type)") + element.prefix(4)),
            .ok(Array("-----BEGIN X509 CRL-----".utf8)),
        ]
        for reply in lies {
            let answer = try await ask(reply, patient)
            guard case .failure(.badAnswer) = answer else {
                Issue.record("\(reply) gave \(answer)")
                continue
            }
        }
    }

    @Test func `a refused connection is an error`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let url = try #require(ServiceURL(server.url("")))
        server.stop()
        let answer = await client.ask(url)
        if case .success = answer { Issue.record("\(answer)") }
    }

    @Test func `a cancelled request ends`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let url = try #require(ServiceURL(server.url("")))
        let question = Task { [patient] in await patient.ask(url) }
        while server.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        question.cancel()
        #expect(await question.value == .failure(.cancelled))
    }
}
