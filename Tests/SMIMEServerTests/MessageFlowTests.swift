import NIOCore
import NIOPosix
import SMIMEGateway
import SMIMEServer
import Synchronization
import Testing

/// Several attempts at one message, on the event loop, with simulated workers and a simulated next hop.
@Suite(.timeLimit(.minutes(5))) struct MessageFlowTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.any()

    /// Records what happens to the attempts. Used on the event loop only.
    private final class Scene {
        let core: GatewayCore
        let pool: WorkerPool
        var deliveries: [MessageFlow.PendingDelivery] = []
        var flows: [MessageFlow] = []
        var replies: [Int: Int] = [:]

        init(_ core: GatewayCore, _ pool: WorkerPool) { (self.core, self.pool) = (core, pool) }

        /// Starts another attempt at the message that the mail server calls `name`.
        func bring(_ name: String?, confirms: Bool? = nil) {
            let flow = MessageFlow(core, role: .outgoing) { [self] in deliveries.append($0) }
            let place = flows.count
            flows.append(flow)
            var envelope = SMTPEnvelope(sender: "a@x.test", recipients: [SMTPEnvelope.Recipient("b@y.test")])
            if let name { envelope.xforward[.identifier] = name }
            flow.begin(envelope) { _ in }
            flow.append(ByteBuffer(string: "Subject: x\r\n\r\n"))
            flow.finish { [self] reply in
                replies[place] = reply.code
                if let confirms { flow.confirm(confirms) }
            }
        }
    }

    /// Workers that know which messages are recorded, as the journal does.
    private static func workers(_ settled: @escaping @Sendable ([String]) -> Void) -> FakeWorkers {
        let names = Mutex<[UInt64: String]>([:])
        let recorded = Mutex<Set<String>>([])
        return FakeWorkers { _, request in
            switch request {
            case .handle(let job):
                let name = job.queueName ?? ""
                names.withLock { $0[job.number] = name }
                if recorded.withLock({ $0.contains(name) }) {
                    return .handled(number: job.number, .served, WorkerLog())
                }
                let form = WorkerMessageForm(
                    sender: job.sender,
                    recipients: job.recipients,
                    isEightBit: false,
                    content: job.content
                )
                return .handled(number: job.number, .forms([form], learns: false), WorkerLog())
            case .settle(let number, let served, _, _):
                settled(served)
                if !served.isEmpty, let name = names.withLock({ $0[number] }) {
                    recorded.withLock { _ = $0.insert(name) }
                }
                return .settled(number: number, WorkerLog())
            case .check: return .checked(nil)
            case .countExpiring: return .expiring(0)
            }
        }
    }

    private func scene(_ workers: FakeWorkers, replyTime: TimeAmount = .hours(1)) async throws -> NIOLoopBound<Scene> {
        let scene = try await loop.submit { [loop] in
            let pool = WorkerPool(on: loop, WorkerPool.Settings(width: 2, maximum: 2)) { try workers.start() }
            var settings = GatewayCore.Settings()
            settings.replyTime = replyTime
            let core = GatewayCore(
                loop: loop,
                settings: settings,
                pool: pool,
                slots: try MessageSlots(count: 8),
                connections: Connections(maximum: 8),
                logging: { _, _ in },
                warn: { _ in }
            )
            pool.open()
            return NIOLoopBound(Scene(core, pool), eventLoop: loop)
        }
        .get()
        try await wait { workers.readyCount == 2 && scene.value.pool.trouble == nil }
        return scene
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await loop.submit(body).get()
    }

    private func wait(until condition: @escaping @Sendable () -> Bool) async throws {
        while !(try await onLoop(condition)) { try await Task.sleep(for: .milliseconds(5)) }
    }

    private func sent() -> MessageFlow.Placement { MessageFlow.Placement(served: ["b@y.test"]) }

    @Test func `a second attempt waits until the first is recorded, and sends nothing`() async throws {
        let workers = Self.workers { _ in }
        let scene = try await scene(workers)
        try await onLoop { for _ in 0..<2 { scene.value.bring("Q1", confirms: false) } }
        try await wait { scene.value.deliveries.count == 1 }
        try await onLoop { scene.value.bring("Q2", confirms: true) }
        try await wait { scene.value.deliveries.count == 2 }
        #expect(workers.jobCount == 2)
        let placement = sent()
        try await onLoop { for delivery in scene.value.deliveries { delivery.done(placement) } }
        try await wait { scene.value.replies.count == 3 }
        #expect(try await onLoop { scene.value.replies } == [0: 250, 1: 250, 2: 250])
        #expect(try await onLoop { scene.value.deliveries.count } == 2)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `a second attempt while the reply to the first is unread shows that the first was given up`()
        async throws
    {
        let scene = try await scene(Self.workers { _ in })
        try await onLoop { for _ in 0..<2 { scene.value.bring("Q1") } }
        try await wait { scene.value.deliveries.count == 1 }
        let placement = sent()
        try await onLoop {
            scene.value.deliveries[0].done(placement)
            scene.value.flows[0].noteReplyWritten()
        }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `an attempt after one that failed sends the message`() async throws {
        let scene = try await scene(Self.workers { _ in })
        try await onLoop { for _ in 0..<2 { scene.value.bring("Q1", confirms: true) } }
        try await wait { scene.value.deliveries.count == 1 }
        try await onLoop {
            scene.value.deliveries[0].done(MessageFlow.Placement(failure: SMTPReply(451, nil, text: "later")))
        }
        try await wait { scene.value.deliveries.count == 2 }
        let placement = sent()
        try await onLoop { scene.value.deliveries[1].done(placement) }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 451, 1: 250])
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `what takes too long gets 451, and is recorded when the next hop has it`() async throws {
        let records = Mutex<[[String]]>([])
        let scene = try await scene(
            Self.workers { served in records.withLock { $0.append(served) } },
            // The third attempt must be answered within this time, also on a busy machine.
            replyTime: .seconds(8)
        )
        try await onLoop { for _ in 0..<2 { scene.value.bring("Q1", confirms: true) } }
        try await wait { scene.value.replies.count == 2 }
        #expect(try await onLoop { scene.value.replies } == [0: 451, 1: 451])
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        let placement = sent()
        try await onLoop {
            scene.value.bring("Q1", confirms: true)
            scene.value.deliveries[0].done(placement)
        }
        try await wait { scene.value.replies.count == 3 }
        #expect(try await onLoop { scene.value.replies[2] } == 250)
        #expect(try await onLoop { scene.value.deliveries.count } == 1)
        #expect(records.withLock { $0 } == [["b@y.test"]])
        try await onLoop { scene.value.pool.close() }
    }

    @Test func `messages without a name do not wait for each other`() async throws {
        let scene = try await scene(Self.workers { _ in })
        try await onLoop { for _ in 0..<2 { scene.value.bring(nil, confirms: true) } }
        try await wait { scene.value.deliveries.count == 2 }
        let placement = sent()
        try await onLoop { for delivery in scene.value.deliveries { delivery.done(placement) } }
        try await wait { scene.value.replies.count == 2 }
        try await onLoop { scene.value.pool.close() }
    }
}
