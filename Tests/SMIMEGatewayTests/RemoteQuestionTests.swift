import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// The addresses that the outgoing filter looks up on other hosts.
@Suite struct RemoteQuestionTests {
    private final class Recorder: RemoteSource {
        let kind = KnownRecipient.Source.ldap
        let timeLimit = Duration.seconds(60)
        let identity = "recorder"
        private let questions = Mutex<[String]>([])
        var asked: [String] { questions.withLock { $0 } }

        func search(
            for addresses: [AddressScope],
            until deadline: ContinuousClock.Instant
        ) throws(SourceOutage) -> SourceAnswer {
            questions.withLock { $0 += addresses.map(\.text) }
            return SourceAnswer()
        }

        func state() throws(SourceOutage) -> String { "fixed" }
    }

    @Test(arguments: [(Policy.Level.never, [] as [String]), (Policy.Level.available, ["stranger@example.org"])])
    func `sources are asked about those alone to whom mail is encrypted`(level: Policy.Level, asked: [String])
        async throws
    {
        let home = try await TestHome.office()
        let source = Recorder()
        let filter = OutgoingFilter(
            store: home.store,
            time: Date.judged,
            systemAnchors: false,
            sources: [source],
            flags: ProtectionRequest(encrypt: level)
        )
        for header in ["", "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n"] {
            _ = try await filter.decisions(
                on: MemorySource(Array("From: alice@example.com\nSubject: x\n\(header)\nText\n".utf8)),
                from: .address(EmailAddress("alice@example.com")),
                to: ["bob@example.com", "stranger@example.org"].map { try EmailAddress($0) }
            )
        }
        #expect(source.asked == asked)
    }
}
