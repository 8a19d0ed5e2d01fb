import Foundation
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

/// The checks of doctor.
@Suite struct DoctorTests {
    private static let outgoing =
        "smime-out unix - n n - - pipe flags=Rq user=smime argv=/bin/sh/smime filter outgoing --home /var/lib/smime "
        + "--sender=${sender} --queue-id ${queue_id} -- ${recipient}"

    private func configuration(_ services: [String], _ parameters: [String: String] = [:]) -> PostfixConfiguration {
        PostfixConfiguration(from: nil) { arguments in
            guard !arguments.contains("-M") else { return services.joined(separator: "\n") }
            return parameters.map { "\($0) = \($1)" }.joined(separator: "\n")
        }
    }

    private func codes(_ configuration: PostfixConfiguration) -> Set<String> {
        Set(Doctor(at: .judged).findings(of: configuration, timeLimit: 540).filter { $0.level != .ok }.map(\.code))
    }

    @Test func `a Postfix without the filter is reported`() {
        let findings = Doctor(at: .judged).findings(
            of: configuration(["smtp inet n - y - - smtpd"]),
            timeLimit: 540
        )
        #expect(findings.map(\.code) == ["mta-filter"])
        #expect(findings.map(\.urgency) == [.now])
    }

    @Test func `the incoming filter on the submission port is reported`() {
        let port =
            "submission inet n - y - - smtpd -o content_filter=smime-in:filter "
            + "-o smtpd_relay_restrictions=permit_sasl_authenticated,reject"
        let incoming = Self.outgoing.replacing("smime-out", with: "smime-in").replacing("outgoing", with: "incoming")
        #expect(codes(configuration([port, incoming])).contains("mta-direction"))
        let right = port.replacing("smime-in", with: "smime-out")
        #expect(!codes(configuration([right, Self.outgoing])).contains("mta-direction"))
    }

    @Test func `a Postfix time limit shorter than the filter's is reported`() {
        let port = "smtp inet n - y - - smtpd -o content_filter=smime-out:filter"
        for (limit, isTold) in [("300s", true), ("600s", false), ("10m", false)] {
            let found = codes(configuration([port, Self.outgoing], ["smime-out_time_limit": limit]))
            #expect(found.contains("mta-time-limit") == isTold, "\(limit)")
        }
    }

    @Test(arguments: [
        ("Rq", false), ("Rquh", false), ("RqB", true), ("RqD", true), ("RqF", true), ("RqO", true), ("Rq.", true),
        ("Rq>", true),
    ])
    func `flags of pipe that change the mail are reported`(_ flags: String, changesMail: Bool) {
        let service = Self.outgoing.replacing("flags=Rq", with: "flags=\(flags)")
        let findings = Doctor(at: .judged).findings(of: configuration([service]), timeLimit: 540)
        let isReported = findings.contains { $0.text == "smime-out: flags=\(flags) changes the mail" }
        #expect(isReported == changesMail, "\(findings.map(\.text))")
    }

    @Test(arguments: ["--home /nonexistent/store", "--home=/nonexistent/store", "{--home=/nonexistent/store}"])
    func `a store that does not exist is reported`(_ option: String) {
        let service = Self.outgoing.replacing("user=smime", with: "user=nobody")
            .replacing("--home /var/lib/smime", with: option)
        let findings = Doctor(at: .judged).findings(of: configuration([service]), timeLimit: 540)
        #expect(
            findings.contains { $0.text == "smime-out: /nonexistent/store: no such store" },
            "\(findings.map(\.text))"
        )
    }

    @Test(arguments: ["--sendmail {/opt/sendmail -t}", "{--sendmail=/opt/sendmail -t}"])
    func `a sendmail that ends a message at a lone dot is reported`(_ option: String) {
        let service = Self.outgoing.replacing("--sender=", with: "\(option) --sender=")
        #expect(codes(configuration([service])).contains("filter-sendmail"))
        let right = service.replacing("/opt/sendmail", with: "/opt/sendmail -i")
        #expect(!codes(configuration([right])).contains("filter-sendmail"))
    }

    @Test func `a check that cannot run is reported`() {
        let configuration = PostfixConfiguration(from: "/nowhere") { _ in throw CocoaError(.fileNoSuchFile) }
        let findings = Doctor(at: .judged).findings(of: configuration, timeLimit: 540)
        #expect(findings.map(\.text) == ["/nowhere/main.cf: not found, so Postfix is not set up there"])
    }

    @Test func `findings are sorted by urgency, and an expiring account is named`() async throws {
        let home = try await TestHome(of: ["alice"])
        let findings = await Doctor(at: Date(timeIntervalSince1970: 4_922_000_000)).findings { home.store }.ranked
        #expect(findings.map(\.urgency) == findings.map(\.urgency).sorted(by: >))
        #expect(findings.contains { $0.code == "identity-missing" || $0.code == "identity-expiring" })
    }

    @Test func `a store that cannot be opened is a finding`() async {
        let findings = await Doctor(at: .judged).findings { throw KeystoreError.busy(path: "db") }
        #expect(findings.ranked.first?.text == "db: in use by another process for too long")
    }
}
