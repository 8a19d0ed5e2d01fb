import CertificateDiscovery
import TestSupport
import Testing

/// A certificate cannot make this program contact a service in a private network.
@Suite struct PeerAddressTests {
    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "0.0.0.0", "10.0.0.1", "100.64.0.1",
        "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
        "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:db8::1]", "[::127.0.0.1]",
    ])
    func `private addresses are refused before a connection is made`(host: String) async throws {
        let server = try LoopbackServer { _ in .ok([0x30, 0]) }
        let url = try #require(ServiceURL("http://\(host):\(server.port)/"))
        let answer = await HTTPClient(timeLimit: .seconds(20)).ask(url)
        guard case .failure(let error) = answer else {
            Issue.record("\(answer)")
            return
        }
        // Without IPv6, names with such addresses do not resolve.
        #expect(error == .privateAddress || "\(error)".hasPrefix("cannot be reached"))
        #expect(server.asked.isEmpty)
    }
}
