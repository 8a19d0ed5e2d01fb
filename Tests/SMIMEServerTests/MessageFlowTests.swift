import Foundation
import NIOCore
import NIOPosix
import SMIMEGateway
import SMIMEServer
import SMIMEStore
import Synchronization
import Testing

/// Several attempts at one message, on the event loop, with simulated workers and a simulated next hop.
@Suite(.timeLimit(.minutes(15))) struct MessageFlowTests {
    let loop = MultiThreadedEventLoopGroup.singleton.any()

    private static let both = ["b@y.test", "c@y.test"]

    /// Sends the first message of `scene`. Only one of its two recipients receives it, so this must be recorded.
    private func deliverHalf(_ name: String, in scene: NIOLoopBound<Scene>) async throws {
        try await onLoop { scene.value.startAttempt(name, to: Self.both, confirms: true) }
        try await wait { scene.value.deliveries.count == 1 }
        let half = MessageFlow.DeliveryResult(served: ["b@y.test"], failure: SMTPReply(451, nil, text: "later"))
        try await onLoop { scene.value.deliveries[0].done(half) }
        try await wait { scene.value.replies.count == 1 }
    }

    /// Delivers the first message of `scene` and writes its reply, which is not confirmed yet. Returns the result of the delivery.
    private func deliverFirst(in scene: NIOLoopBound<Scene>) async throws -> MessageFlow.DeliveryResult {
        try await onLoop { scene.value.startAttempt("Q1") }
        try await wait { scene.value.deliveries.count == 1 }
        let result = sent()
        try await onLoop {
            scene.value.deliveries[0].done(result)
            scene.value.flows[0].noteReplyWritten()
        }
        return result
    }

    private func sent() -> MessageFlow.DeliveryResult { MessageFlow.DeliveryResult(served: ["b@y.test"]) }

    @Test func `a second attempt waits until the first is recorded, and sends nothing`() async throws {
        let workers = Self.workers()
        let scene = try await scene(workers)
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt("Q1", confirms: false) } }
        try await wait { scene.value.deliveries.count == 1 }
        try await onLoop { scene.value.startAttempt("Q2", confirms: true) }
        try await wait { scene.value.deliveries.count == 2 }
        #expect(workers.jobCount == 2)
        let result = sent()
        try await onLoop { for delivery in scene.value.deliveries { delivery.done(result) } }
        try await wait { scene.value.replies.count == 3 }
        #expect(try await onLoop { scene.value.replies } == [0: 250, 1: 250, 2: 250])
        #expect(try await onLoop { scene.value.deliveries.count } == 2)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `the handling time of a message does not include its wait for a worker`() async throws {
        let isFirst = Mutex(true)
        let workers = Self.workers(handled: { _ in
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if waits { sleep(2) }
        })
        let scene = try await scene(workers, width: 1)
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt(nil, confirms: true) } }
        try await wait { scene.value.deliveries.count == 2 }
        let result = sent()
        try await onLoop { for delivery in scene.value.deliveries { delivery.done(result) } }
        try await wait { scene.value.replies.count == 2 }
        let metrics = try await onLoop { scene.value.core.metrics.text }
        // Both messages took two seconds, but the second one waited for the worker in this time.
        #expect(metrics.contains("smime_message_seconds_bucket{role=\"outgoing\",le=\"1.0\"} 0\n"))
        #expect(metrics.contains("smime_handling_seconds_bucket{role=\"outgoing\",le=\"1.0\"} 1\n"))
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `a second attempt while the reply to the first is unread shows that the first was given up`()
        async throws
    {
        let scene = try await scene(Self.workers())
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt("Q1") } }
        try await wait { scene.value.deliveries.count == 1 }
        let result = sent()
        try await onLoop {
            scene.value.deliveries[0].done(result)
            scene.value.flows[0].noteReplyWritten()
        }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        try await onLoop { scene.value.pool.close() }
    }

    @Test(arguments: [true, false]) func `an attempt after an unread reply waits until the delivery is recorded`(
        comesBeforeTheEnd: Bool
    ) async throws {
        // The other worker could handle the second attempt meanwhile.
        let scene = try await scene(Self.workers(settled: { _, _ in sleep(1) }))
        _ = try await deliverFirst(in: scene)
        try await onLoop {
            if comesBeforeTheEnd { scene.value.startAttempt("Q1", confirms: true) }
            // The connection ends.
            scene.value.flows[0].confirm(false)
            if !comesBeforeTheEnd { scene.value.startAttempt("Q1", confirms: true) }
        }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 250, 1: 250])
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `an attempt after a read reply is a new message`() async throws {
        let scene = try await scene(Self.workers())
        let result = try await deliverFirst(in: scene)
        try await onLoop {
            scene.value.flows[0].confirm(true)
            scene.value.startAttempt("Q1", confirms: true)
        }
        try await wait { scene.value.deliveries.count == 2 }
        try await onLoop { scene.value.deliveries[1].done(result) }
        try await wait { scene.value.replies.count == 2 }
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `an attempt after one that failed sends the message`() async throws {
        let scene = try await scene(Self.workers())
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt("Q1", confirms: true) } }
        try await wait { scene.value.deliveries.count == 1 }
        try await onLoop {
            scene.value.deliveries[0].done(MessageFlow.DeliveryResult(failure: SMTPReply(451, nil, text: "later")))
        }
        try await wait { scene.value.deliveries.count == 2 }
        let result = sent()
        try await onLoop { scene.value.deliveries[1].done(result) }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 451, 1: 250])
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `what takes too long gets 451, and is recorded when the next hop has it`() async throws {
        let records = Mutex<[[String]]>([])
        let scene = try await scene(
            Self.workers(settled: { _, served in records.withLock { $0.append(served) } }),
            // The third attempt must be answered within this time, also on a busy machine.
            replyTime: .seconds(8)
        )
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt("Q1", confirms: true) } }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 451, 1: 451])
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        let result = sent()
        try await onLoop {
            scene.value.startAttempt("Q1", confirms: true)
            scene.value.deliveries[0].done(result)
        }
        try await wait { scene.value.replies.count == 3 }
        #expect(try await onLoop { scene.value.replies[2] } == 250)
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        #expect(records.withLock { $0 } == [["b@y.test"]])
        try await onLoop { scene.value.pool.close() }
    }

    @Test(arguments: [1, 2]) func `if the worker has ended, another worker records the delivery`(
        width: Int
    ) async throws {
        let handler = Mutex<Int?>(nil)
        let records = Mutex<[(worker: Int, served: [String])]>([])
        let workers = Self.workers(
            handled: { worker in handler.withLock { $0 = worker } },
            settled: { worker, served in records.withLock { $0.append((worker, served)) } }
        )
        let scene = try await scene(workers, width: width)
        try await onLoop { scene.value.startAttempt("Q1", confirms: false) }
        try await wait { scene.value.deliveries.count == 1 }
        let first = try #require(handler.withLock { $0 })
        workers.end(first)
        let result = sent()
        try await onLoop {
            scene.value.deliveries[0].done(result)
            scene.value.startAttempt("Q1", confirms: true)
        }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 250, 1: 250])
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        let record = try #require(records.withLock { $0.count == 1 ? $0.first : nil })
        #expect(record.worker != first)
        #expect(record.served == ["b@y.test"])
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `while nothing can be recorded, a message in several copies is not sent again and again`() async throws {
        let isWritable = Mutex(false)
        let scene = try await scene(Self.workers(isWritable: { isWritable.withLock { $0 } }))
        try await deliverHalf("Q1", in: scene)
        #expect(try await onLoop { scene.value.pool.isJournalFailing })
        // A message in one copy needs no record.
        try await onLoop {
            scene.value.startAttempt("Q1", to: Self.both, confirms: true)
            scene.value.startAttempt("Q2", confirms: true)
        }
        try await wait { scene.value.replies.count == 2 && scene.value.deliveries.count == 2 }
        #expect(try await onLoop { scene.value.replies[1] } == 451)
        isWritable.withLock { $0 = true }
        try await onLoop { scene.value.startAttempt("Q1", to: Self.both, confirms: true) }
        try await wait { scene.value.deliveries.count == 3 }
        #expect(try await onLoop { scene.value.pool.isJournalFailing } == false)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `while the journal is checked after every message, every message gets its reply`() async throws {
        let scene = try await scene(Self.workers(isWritable: { false }), width: 1)
        try await deliverHalf("Q0", in: scene)
        // As soon as the one worker has answered a message, it gets the next one and is also asked to check the journal.
        for round in 0..<10 {
            try await onLoop {
                for n in 1...6 { scene.value.startAttempt("Q\(round)\(n)", to: Self.both, confirms: true) }
            }
            try await wait { scene.value.replies.count == 1 + 6 * (round + 1) }
        }
        #expect(try await onLoop { scene.value.replies.values.allSatisfy { $0 == 451 } })
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `a check of the journal that is never answered delays only the messages that need it`() async throws {
        let workers = Self.workers(isWritable: { false }, answersJournalChecks: false)
        let scene = try await scene(workers, replyTime: .seconds(8))
        try await deliverHalf("Q1", in: scene)
        // Both messages wait for one check of the journal, by one worker. The other worker handles the other messages.
        try await onLoop { for name in ["Q1", "Q2"] { scene.value.startAttempt(name, to: Self.both, confirms: true) } }
        for number in 3...6 {
            try await onLoop { scene.value.startAttempt("Q\(number)", confirms: true) }
            try await wait { scene.value.deliveries.count == number - 1 }
        }
        try await wait { scene.value.replies[1] == 451 && scene.value.replies[2] == 451 }
        #expect(try await onLoop { scene.value.deliveries.count } == 5)
        try await onLoop { scene.value.pool.close() }
    }

    @Test(arguments: [(true, "may not get it"), (false, "may get it twice")])
    func `if the journal cannot be changed after the reply, the log says what may follow`(
        isMilter: Bool,
        consequence: String
    ) async throws {
        let workers = FakeWorkers { _, request in
            switch request {
            case .handle(let job):
                // The journal says that the other recipients have the message.
                let copy = WorkerMessageCopy(
                    sender: job.sender,
                    recipients: Array(job.recipients.prefix(1)),
                    isEightBit: false,
                    content: job.content
                )
                let entry = DeliveryJournal.Entry(queueID: "Q1", digest: [1])
                return .handled(number: job.number, .copies([copy], entry: entry, learns: false), WorkerLog())
            case .settle(let settlement): return .settled(number: settlement.number, isRecorded: false, WorkerLog())
            case .check: return .checked(nil)
            case .countExpiring: return .expiring(0)
            }
        }
        let scene = try await scene(workers)
        // A milter forgets the message when the mail server has the reply; otherwise the recipients are recorded if it does
        // not have it.
        try await onLoop { scene.value.startAttempt("Q1", to: Self.both, confirms: isMilter, isMilter: isMilter) }
        try await wait { scene.value.deliveries.count == 1 }
        let result = sent()
        try await onLoop { scene.value.deliveries[0].done(result) }
        try await wait { !workers.notes.isEmpty }
        let text = "the journal is not updated: if the message arrives again, some recipients \(consequence)"
        #expect(workers.notes == ["Q1: \(text)"])
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `an attempt whose client has gone while it waits for the first one keeps no slot`() async throws {
        let scene = try await scene(Self.workers())
        try await onLoop { for _ in 0..<8 { scene.value.startAttempt("Q1") } }
        try await wait { scene.value.deliveries.count == 1 }
        try await onLoop {
            for flow in scene.value.flows.dropFirst() { flow.abandon() }
            for number in 2...8 { scene.value.startAttempt("Q\(number)") }
        }
        try await wait { scene.value.deliveries.count == 8 }
        let result = sent()
        try await onLoop {
            scene.value.deliveries[0].done(result)
            scene.value.flows[0].confirm(false)
            scene.value.startAttempt("Q1", confirms: true)
        }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.deliveries.count } == 8)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `equal messages for a milter wait in half of the slots, and the others are told to come later`()
        async throws
    {
        let scene = try await scene(Self.workers())
        try await onLoop { for _ in 0..<8 { scene.value.startAttempt("Q1", confirms: true, isMilter: true) } }
        try await wait { scene.value.replies.count == 3 }
        #expect(try await onLoop { scene.value.replies.values.allSatisfy { $0 == 451 } })
        try await onLoop { scene.value.startAttempt("Q2", confirms: true) }
        try await wait { scene.value.deliveries.count == 2 }
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `messages without a name do not wait for each other`() async throws {
        let scene = try await scene(Self.workers())
        try await onLoop { for _ in 0..<2 { scene.value.startAttempt(nil, confirms: true) } }
        try await wait { scene.value.deliveries.count == 2 }
        let result = sent()
        try await onLoop { for delivery in scene.value.deliveries { delivery.done(result) } }
        try await wait { scene.value.replies.count == 2 }
        try await onLoop { scene.value.pool.close() }
    }
}
