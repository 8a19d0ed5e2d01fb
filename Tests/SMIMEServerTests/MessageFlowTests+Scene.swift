import Foundation
import NIOCore
import NIOPosix
import SMIMEGateway
import SMIMEServer
import SMIMEStore
import Synchronization

/// Several attempts at one message, with simulated workers and a simulated next hop.
extension MessageFlowTests {
    /// Records what happens to the attempts. Used on the event loop only.
    final class Scene {
        let core: GatewayCore
        let pool: WorkerPool
        var deliveries: [MessageFlow.PendingDelivery] = []
        var flows: [MessageFlow] = []
        var replies: [Int: Int] = [:]

        init(_ core: GatewayCore, _ pool: WorkerPool) { (self.core, self.pool) = (core, pool) }

        /// Starts another attempt at the message that the mail server calls `name`.
        func startAttempt(
            _ name: String?,
            to recipients: [String] = ["b@y.test"],
            confirms: Bool? = nil,
            isMilter: Bool = false
        ) {
            let flow = MessageFlow(core, role: .outgoing, forgetsConfirmed: isMilter) { [self] in
                deliveries.append($0)
            }
            let place = flows.count
            flows.append(flow)
            var envelope = SMTPEnvelope(sender: "a@x.test", recipients: recipients.map { SMTPEnvelope.Recipient($0) })
            if let name { envelope.xforward[.identifier] = name }
            flow.begin(envelope) { _ in }
            flow.append(ByteBuffer(string: "Subject: x\r\n\r\n"))
            flow.finish { [self] reply in
                replies[place] = reply.code
                if let confirms { flow.confirm(confirms) }
            }
        }
    }

    /// Workers that know which messages are recorded, as the journal does. Each recipient gets a copy of the message.
    ///
    /// - Parameters:
    ///   - isWritable: whether the journal can be written.
    ///   - answersJournalChecks: whether the worker that checks the journal answers.
    ///   - handled: called with the number of the worker that handles a message.
    ///   - settled: called with the number of the worker that settles a message, and the recipients to record.
    static func workers(
        isWritable: @escaping @Sendable () -> Bool = { true },
        answersJournalChecks: Bool = true,
        handled: @escaping @Sendable (Int) -> Void = { _ in },
        settled: @escaping @Sendable (Int, [String]) -> Void = { _, _ in }
    ) -> FakeWorkers {
        let recorded = Mutex<Set<String>>([])
        return FakeWorkers { worker, request in
            switch request {
            case .handle(let job):
                let name = job.queueName ?? ""
                handled(worker)
                if recorded.withLock({ $0.contains(name) }) {
                    return .handled(number: job.number, .served, WorkerLog())
                }
                let copies = job.recipients.map {
                    WorkerMessageCopy(sender: job.sender, recipients: [$0], isEightBit: false, content: job.content)
                }
                let entry = job.queueName.map { DeliveryJournal.Entry(queueID: $0, digest: [1]) }
                return .handled(number: job.number, .copies(copies, entry: entry, learns: false), WorkerLog())
            case .settle(let settlement):
                guard answersJournalChecks || !settlement.checksJournal else { return nil }
                guard isWritable() else {
                    return .settled(number: settlement.number, isRecorded: false, WorkerLog())
                }
                settled(worker, settlement.served)
                if !settlement.served.isEmpty, let name = settlement.entry?.queueID {
                    recorded.withLock { _ = $0.insert(name) }
                }
                return .settled(number: settlement.number, isRecorded: true, WorkerLog())
            case .check: return .checked(nil)
            case .countExpiring: return .expiring(0)
            }
        }
    }

    func scene(
        _ workers: FakeWorkers,
        width: Int = 2,
        replyTime: TimeAmount = .hours(1)
    ) async throws -> NIOLoopBound<Scene> {
        let scene = try await loop.submit { [loop] in
            let pool = WorkerPool(on: loop, WorkerPool.Settings(width: width, maximum: width)) { try workers.start() }
            var settings = GatewayCore.Settings()
            settings.replyTime = replyTime
            let core = GatewayCore(
                loop: loop,
                settings: settings,
                pool: pool,
                slots: try MessageSlots(count: 8),
                connections: Connections(maximum: 8),
                logging: { _, _ in },
                warn: { workers.note($0) }
            )
            pool.open()
            return NIOLoopBound(Scene(core, pool), eventLoop: loop)
        }
        .get()
        try await wait { workers.readyCount == width && scene.value.pool.failure == nil }
        return scene
    }

    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await loop.submit(body).get()
    }

    func wait(until condition: @escaping @Sendable () -> Bool) async throws {
        while !(try await onLoop(condition)) { try await Task.sleep(for: .milliseconds(5)) }
    }
}
