import ByteStreams
import SMIME
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

/// Learning from many messages.
@Suite struct HarvestTests {
    @Test func `progress ends with the last message, also if all are verified at once`() async throws {
        let home = try await TestHome()
        let provider = StoreKeyProvider(home.store, systemAnchors: false)
        let harvest = Harvest(
            store: home.store,
            opener: MessageOpener(provider, at: .judged),
            policy: .sameRoot,
            jobs: 4
        )
        let mail = Array("From: bob@example.com\n\nHello\n".utf8)
        let sources = MailSources(opened: (1...6).map { ("\($0).eml", MemorySource(mail)) })
        var steps: [Int] = []
        let summary = await harvest.run(sources, advance: { steps.append($0) })
        #expect(summary.messages == 6)
        #expect(steps == (1...6).map { $0 * mail.count })
    }
}
