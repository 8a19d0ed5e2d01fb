import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// Certificates that a server learns from mail verified by its filter.
@Suite struct LearningFromMailTests {
    @Test func `the author's certificates are learned from verified mail`() async throws {
        let sender = try await TestHome.office(of: ["split"], knowing: [])
        let reader = try await TestHome.office(of: ["bob"], knowing: [])
        let mail = try await sender.plan(from: "split@example.com", to: ["bob@example.com"])
        let host = MailHost(name: try #require(HostName("gw.example.org")))
        let filter = IncomingFilter(store: reader.store, time: Date.judged, host: host)
        let plan = try await filter.plan(try mail.source(0), to: ["bob@example.com"])
        let sightings = [plan.learnable].compactMap(\.self).map { SignerSighting($0) }
        let report = try await reader.store.recipients.learn(sightings, at: Date.judged)
        #expect(report.entries.count == 2)
        let answer = try await reader.plan(from: "bob@example.com", to: ["split@example.com"])
        #expect(answer.decisions.map(\.action) == [.signAndEncrypt])
        #expect(try await sender.opener.decrypt(try answer.source(0)).report.status == .valid)
    }
}
