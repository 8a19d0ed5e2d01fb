import Foundation
import TestSupport
import Testing

/// The option `--online` and its settings: which services are asked, and which answers are stored.
@Suite struct OnlineTests {
    @Test(arguments: [("leaf", Int32(1), "certificate-revoked"), ("other", Int32(0), "")])
    func `a fetched list is stored and used in the next run`(
        revoked: String,
        status: Int32,
        problem: String
    ) throws {
        let problems = problem.isEmpty ? [] : [problem]
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        served.put(list: try scene.list(revoking: [revoked]))
        let first = try scene.read("verify --online --revocation hard --json signed.eml")
        #expect(first.status == status, "\(first.errorText)")
        #expect(scene.problems(first) == problems)
        #expect(server.asked.count == 1)
        server.stop()
        for options in ["", "--online"] {
            let next = try scene.read("verify \(options) --revocation hard --json signed.eml")
            #expect(next.status == status, "\(next.errorText)")
            #expect(scene.problems(next) == problems)
            #expect(next.errorText.isEmpty)
        }
        #expect(server.asked.count == 1)
    }

    @Test(arguments: [("R", Int32(1), "certificate-revoked"), ("V", Int32(0), "")])
    func `a fetched OCSP response is stored and used in the next run until it ends`(
        said: String,
        status: Int32,
        problem: String
    ) throws {
        let problems = problem.isEmpty ? [] : [problem]
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["authorityInfoAccess=OCSP;URI:\(server.url("ocsp"))"])
        served.put(response: try scene.response(said, about: "leaf"))
        let first = try scene.read("verify --online --revocation hard --json signed.eml")
        #expect(first.status == status, "\(first.errorText)")
        #expect(scene.problems(first) == problems)
        #expect(server.asked == ["POST /ocsp HTTP/1.0"])
        server.stop()
        let next = try scene.read("verify --revocation hard --json signed.eml")
        #expect(next.status == status, "\(next.errorText)")
        #expect(scene.problems(next) == problems)
        // The choice of encryption certificates uses the answer as well.
        let encrypted = try scene.read("encrypt --revocation hard -o secret.eml plain.eml")
        #expect(encrypted.status == (said == "R" ? 67 : 0), "\(encrypted.errorText)")
        // The responder's answer is valid for seven days.
        let later = Date.now.addingTimeInterval(8 * 86_400).formatted(.iso8601)
        let late = try scene.read("verify --revocation hard --json --time \(later) signed.eml")
        #expect(late.status == 1)
        // A revoked certificate stays revoked.
        #expect(scene.problems(late) == [said == "R" ? "certificate-revoked" : "revocation-unknown"])
    }

    @Test func `no service is asked without the flag or the setting`() throws {
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        served.put(list: try scene.list(revoking: ["leaf"]))
        #expect(try scene.read("verify signed.eml").status == 0)
        #expect(try scene.read("encrypt -o secret.eml plain.eml").status == 0)
        #expect(
            try scene.read(
                "filter incoming --stdout --log none --sender a@example.com -- b@example.com",
                input: "signed.eml"
            ).status == 0
        )
        #expect(server.asked == [])
        #expect(try scene.read("config set revocation.online on").status == 0)
        #expect(try scene.read("verify --revocation off signed.eml").status == 0)
        #expect(server.asked == [])
        #expect(try scene.read("verify signed.eml").status == 1)
        #expect(server.asked.count == 1)
    }

    @Test func `the status is 69 only if nothing but a service's response is missing`() throws {
        let server = try LoopbackServer { _ in .silence }
        let scene = try OnlineScene(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        #expect(try scene.read("config set revocation.timeout 300ms").status == 0)
        let hard = try scene.read("verify --online --revocation hard --json signed.eml")
        #expect(hard.status == 69)
        #expect(hard.text.contains(#""status":"untrusted""#))
        #expect(scene.problems(hard) == ["revocation-unknown"])
        #expect(hard.errorText.contains("\(server.url("ca.crl")): no answer in time"))
        let soft = try scene.read("verify --online --json signed.eml")
        #expect(soft.status == 0)
        #expect(soft.errorText.contains("no answer in time"))
        // No service was asked, so none failed to answer.
        #expect(try scene.read("verify --revocation hard signed.eml").status == 1)
        let encrypted = try scene.read("encrypt --online --revocation hard -o secret.eml plain.eml")
        #expect(encrypted.status == 69, "\(encrypted.errorText)")
        // A signature that is invalid for another reason stays invalid if services do not answer, and no service is asked
        // about it.
        let count = server.asked.count
        #expect(
            try scene.read("verify --online --revocation hard --assert-signer b@example.com signed.eml").status == 69
        )
        #expect(server.asked.count == count + 1)
        #expect(try scene.read("trust remove --yes \(scene.authority())").status == 0)
        #expect(try scene.read("verify --online --revocation hard signed.eml").status == 1)
        #expect(server.asked.count == count + 1)
    }

    /// A server that accepts connections and never answers delays one mail in five minutes, not every mail.
    @Test func `a service that did not answer is skipped by the next process, unless the user asks`() throws {
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        #expect(try scene.read("config set revocation.timeout 1s").status == 0)
        #expect(try scene.read("config set revocation.online on").status == 0)
        let filter = "filter incoming --stdout --log none --sender a@example.com -- b@example.com"
        #expect(try scene.read(filter, input: "signed.eml").status == 0)
        #expect(server.asked.count == 1)
        // Neither this verb nor another one waits again, and the status stays unknown.
        for _ in 0..<5 { #expect(try scene.read(filter, input: "signed.eml").status == 0) }
        #expect(try scene.read("encrypt -o secret.eml plain.eml").status == 0)
        let soft = try scene.read("verify --json signed.eml")
        #expect(soft.status == 0)
        #expect(scene.problems(soft) == ["revocation-unknown"])
        #expect(soft.errorText.contains("\(server.url("ca.crl")): not asked again yet"))
        #expect(try scene.read("verify --revocation hard signed.eml").status == 69)
        #expect(try scene.read("encrypt --revocation hard -o none.eml plain.eml").status == 69)
        #expect(server.asked.count == 1)
        // An explicit request of the user is not suppressed. The answer is used, and the services are asked again from then
        // on.
        served.put(list: try scene.list(revoking: ["leaf"]))
        let asked = try scene.read("verify --online --json signed.eml")
        #expect(asked.status == 1)
        #expect(scene.problems(asked).contains("certificate-revoked"))
        #expect(server.asked.count == 2)
    }

    @Test func `of many silent services three are named and the others counted`() throws {
        let urls = (0..<4).map { "URI:http://127.0.0.1:\(1000 + $0)/" }
        let services = [
            "authorityInfoAccess=\(urls.map { "OCSP;\($0)ocsp" }.joined(separator: ","))",
            "crlDistributionPoints=\(urls.map { "\($0)ca.crl" }.joined(separator: ","))",
        ]
        let scene = try OnlineScene(services, allowsPrivate: false)
        let result = try scene.read("verify --online --json signed.eml")
        #expect(result.status == 0)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 4, "\(result.errorText)")
        #expect(lines.last == "smime: warning: 5 more services did not answer, or could not be asked")
    }

    /// Unusable results: silence, a refusal, garbage, an answer about another certificate or by an unknown signer, a flood
    /// of data.
    @Test(arguments: ["stalls", "trickles", "refuses", "garbage", "other", "stranger", "list", "flood"])
    func `a faulty responder leaves the revocation unknown`(does what: String) throws {
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["authorityInfoAccess=OCSP;URI:\(server.url("ocsp"))"])
        #expect(try scene.read("config set revocation.timeout \(what == "flood" ? "30s" : "2s")").status == 0)
        switch what {
        case "stalls": served.put(.silence)
        case "trickles": served.put(.trickle)
        case "refuses": served.put(.bytes(Array("HTTP/1.0 500 No\r\n\r\n".utf8)))
        case "garbage": served.put(response: Array("<html>".utf8))
        case "other": served.put(response: try scene.response("V", about: "other"))
        case "stranger": served.put(response: try scene.response("V", about: "leaf", by: "other"))
        case "list": served.put(response: try scene.list(revoking: ["leaf"]))
        default: served.put(.flood(100 << 20))
        }
        let hard = try scene.read("verify --online --revocation hard --json signed.eml")
        #expect(hard.status == 69, "\(hard.errorText)")
        #expect(scene.problems(hard) == ["revocation-unknown"])
        #expect(hard.errorText.contains(server.url("ocsp")))
        let soft = try scene.read("verify --online --json signed.eml")
        #expect(soft.status == 0)
        // No unusable answer was stored.
        server.stop()
        #expect(scene.problems(try scene.read("verify --json signed.eml")) == ["revocation-unknown"])
    }

    @Test func `no private address is contacted without permission`() throws {
        let server = try LoopbackServer { _ in .silence }
        let services = [
            "authorityInfoAccess=OCSP;URI:\(server.url("ocsp"))", "crlDistributionPoints=URI:\(server.url("ca.crl"))",
        ]
        let scene = try OnlineScene(services, allowsPrivate: false)
        let result = try scene.read("verify --online --json signed.eml")
        #expect(result.status == 0)
        #expect(scene.problems(result) == ["revocation-unknown"])
        #expect(result.errorText.contains("private network (setting revocation.private-addresses)"))
        #expect(try scene.read("verify --online --revocation hard signed.eml").status == 69)
        #expect(server.asked == [])
    }
}

/// The levels of `--revocation` in both directions of the filter, with a service that answers and one that does not.
@Suite struct OnlineFilterTests {
    private static let incoming = "filter incoming --stdout --log none --authserv-id gw.test --sender a@example.com"
    private static let outgoing = "filter outgoing --stdout --log none --encrypt require --sender b@example.com"

    @Test(arguments: [("off", "pass", Int32(0)), ("soft", "pass", Int32(0)), ("hard", "temperror", Int32(75))])
    func `the filter's verdict with a silent service depends on the revocation level`(
        level: String,
        verdict: String,
        status: Int32
    ) throws {
        let server = try LoopbackServer { _ in .silence }
        let scene = try OnlineScene(["crlDistributionPoints=URI:\(server.url("ca.crl"))"])
        #expect(try scene.read("config set revocation.online on").status == 0)
        #expect(try scene.read("config set revocation.timeout 300ms").status == 0)
        let received = try scene.read("\(Self.incoming) --revocation \(level) -- b@example.com", input: "signed.eml")
        #expect(received.status == 0, "\(received.errorText)")
        #expect(received.text.contains("gw.test; smime=\(verdict) ("))
        let sent = try scene.read("\(Self.outgoing) --revocation \(level) -- a@example.com", input: "plain.eml")
        #expect(sent.status == status, "\(sent.errorText)")
        #expect(sent.text.isEmpty == (status != 0))
        #expect(server.asked.isEmpty == (level == "off"))
    }

    @Test(arguments: [("off", "pass", Int32(0)), ("soft", "fail", Int32(67)), ("hard", "fail", Int32(67))])
    func `the filter's verdict on a revoked certificate depends on the revocation level`(
        level: String,
        verdict: String,
        status: Int32
    ) throws {
        let served = Served()
        let server = try LoopbackServer { _ in served.value }
        let scene = try OnlineScene(["authorityInfoAccess=OCSP;URI:\(server.url("ocsp"))"])
        served.put(response: try scene.response("R", about: "leaf"))
        #expect(try scene.read("config set revocation.online on").status == 0)
        let received = try scene.read("\(Self.incoming) --revocation \(level) -- b@example.com", input: "signed.eml")
        #expect(received.status == 0, "\(received.errorText)")
        #expect(received.text.contains("gw.test; smime=\(verdict) ("))
        // Answers for incoming mail are used for outgoing mail.
        server.stop()
        let sent = try scene.read("\(Self.outgoing) --revocation \(level) -- a@example.com", input: "plain.eml")
        #expect(sent.status == status, "\(sent.errorText)")
        #expect(sent.text.isEmpty == (status != 0))
        #expect(server.asked.count == (level == "off" ? 0 : 1))
    }
}
