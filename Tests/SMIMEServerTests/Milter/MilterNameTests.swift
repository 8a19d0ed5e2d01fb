import NIOCore
import SMIMEServer
import TestSupport
import Testing

/// The journal's names for messages that came through a milter.
@Suite struct MilterNameTests {
    private func name(_ fields: [(String, String)], id: String = "4ZQ1") -> String? {
        var session = MilterSession()
        let header = [("From", " alice@example.org")] + fields
        let events =
            session.receive(MilterClientSide.opening())
            + session.receive(MilterClientSide.message(header: header, id: id))
        for case .endOfMessage(let envelope) in events { return SMTPEnvelope(envelope).milterName }
        return nil
    }

    @Test func `with a Message-ID it is the same for every queue id`() throws {
        let first = try #require(name([("Message-ID", " <1@example.org>")]))
        #expect(name([("message-id", " <1@example.org>")], id: "5ZQ1") == first)
        #expect(MilterJournalName.recordLifetime(of: first) != nil)
        #expect(MilterJournalName.recordLifetime(of: "mx.example.org/5ZQ1") == nil)
    }

    @Test func `a message without a Message-ID has no name`() {
        #expect(name([]) == nil)
        #expect(name([("Message-ID", " \n ")]) == nil)
        #expect(name([("X-Message-ID", " <1@example.org>")]) == nil)
    }
}
