import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// For every message, a filter makes a plan and writes what it planned, or reports what is wrong with the message.
@Suite struct OddMessageTests {
    @Test(arguments: 0..<2)
    func `odd messages are protected or refused, and incoming ones get a verdict`(seed: Int) async throws {
        let office = try await TestHome.office(of: ["carol"], knowing: ["carol"])
        let carol = try EmailAddress("carol@example.com")
        _ = try await office.store.policy.set(
            .init(.recipient(#require(.init("carol@example.com"))), decryptAtGateway: .yes)
        )
        var messages = OddMessages(seed)
        for number in 0..<OddMessages.count(standard: 300) / 2 {
            let bytes = messages.next()
            let encrypt: Policy.Level = number.isMultiple(of: 3) ? .never : .require
            var sent = [MemorySource(bytes)]
            let filter = OutgoingFilter(
                store: office.store,
                time: Date.judged,
                systemAnchors: false,
                flags: ProtectionRequest(sign: number.isMultiple(of: 2) ? .require : .never, encrypt: encrypt)
            )
            do {
                let plan = try await filter.plan(MemorySource(bytes), from: .address(carol), to: [carol])
                try plan.checkSendable()
                sent += try plan.messages.indices.map { try plan.source($0) }
            } catch {
                switch error {
                case is MessageError, is MIMEError, is GatewayError: break
                default: Issue.record("\(error)\n\(String(decoding: bytes, as: UTF8.self))")
                }
            }
            for message in sent { try await takeIn(message, by: office) }
        }
    }

    private func takeIn(_ message: MemorySource, by office: TestHome) async throws {
        let filter = IncomingFilter(
            store: office.store,
            provider: StoreKeyProvider(office.store, systemAnchors: false),
            time: Date.judged,
            host: MailHost(name: try #require(HostName("gw.example.org")))
        )
        do {
            let plan = try await filter.plan(message, to: ["carol@example.com"])
            #expect(plan.messages.flatMap(\.recipients) == ["carol@example.com"])
            for message in plan.messages { try message.source.reader().copy(to: CountingSink()) }
        } catch { Issue.record("\(error)\n\(String(decoding: message.bytes, as: UTF8.self))") }
    }
}
