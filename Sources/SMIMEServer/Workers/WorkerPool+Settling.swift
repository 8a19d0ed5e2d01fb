import Foundation
import NIOCore
package import SMIMEStore

/// Settles messages whose worker may have ended.
extension WorkerPool {
    /// The number of workers that try to change the journal for one message.
    private static let settlingAttempts = 3

    /// Lets `worker`, which handled the message, do the work that remains. If `worker` ends before the work is done, another
    /// worker changes the journal, because otherwise the next attempt would send the message twice.
    ///
    /// - Parameter completion: called with false if the work was not done: the journal could not be changed, or
    ///   `worker` ended before it learned something.
    func settle(
        _ settlement: WorkerSettlement,
        by worker: Worker,
        _ completion: @escaping (_ isDone: Bool) -> Void
    ) {
        settle(settlement, by: worker, attempts: Self.settlingAttempts) { [self] result in
            if settlement.changesJournal { noteJournal(result) }
            completion(result == .done)
        }
    }

    private func noteJournal(_ result: WorkerSettlement.Result) {
        switch result {
        case .done: isJournalFailing = false
        case .notRecorded: isJournalFailing = true
        case .workerEnded: break
        }
    }

    /// Checks whether the journal can be written. A call during a check gets the result of that check.
    func checkJournal(_ completion: @escaping (_ isWritable: Bool) -> Void = { _ in }) {
        journalChecks.append(completion)
        guard journalChecks.count == 1 else { return }
        // An idle worker gets no messages meanwhile, because they would have to wait.
        let idleWorker = idle.popLast()
        let worker = idleWorker ?? active.first(where: \.canWork)
        func end(_ result: WorkerSettlement.Result) {
            noteJournal(result)
            let waiting = journalChecks
            journalChecks = []
            for completion in waiting { completion(result == .done) }
        }
        guard let worker else { return end(.workerEnded) }
        worker.settle(WorkerSettlement(number: 0, entry: nil, checksJournal: true)) { [self] result in
            if idleWorker != nil, result != .workerEnded { becameIdle(worker) }
            end(result)
        }
    }

    private func settle(
        _ settlement: WorkerSettlement,
        by worker: Worker,
        attempts: Int,
        _ completion: @escaping (WorkerSettlement.Result) -> Void
    ) {
        worker.settle(settlement) { [self] result in
            guard result == .workerEnded, settlement.changesJournal, attempts > 1 else { return completion(result) }
            // The worker may have made the change before it ended, but making it again has no further effect.
            if let other = idle.last ?? active.first(where: \.canWork) {
                return settle(settlement, by: other, attempts: attempts - 1, completion)
            }
            guard !isClosing else { return completion(.workerEnded) }
            let limit = loop.assumeIsolated().scheduleTask(in: settings.settlingTime) { [self] in
                if unsettled.removeValue(forKey: settlement.number) != nil { completion(.workerEnded) }
            }
            unsettled[settlement.number] = { [self] worker in
                limit.cancel()
                settle(settlement, by: worker, attempts: attempts - 1, completion)
            }
        }
    }

    /// Lets a worker that has just started settle the messages that wait for a worker.
    func settleWaiting(by worker: Worker) {
        let waiting = unsettled.values
        unsettled = [:]
        for settle in waiting { settle(worker) }
    }
}

/// The work that remains when the result of a message is known.
package struct WorkerSettlement: Equatable, Sendable {
    /// The service's number for the message; 0 for a check of the journal.
    package let number: UInt64
    /// The message's entry in the journal; nil if it has none.
    package let entry: DeliveryJournal.Entry?
    /// The recipients to record as served.
    package let served: [String]
    /// Whether certificates are learned from the message. Only the worker that handled the message can do that.
    package let learns: Bool
    /// Whether the journal forgets the message.
    package let forgets: Bool
    /// Whether the request only checks that the journal can be written. Then it belongs to no message.
    package let checksJournal: Bool

    package init(
        number: UInt64,
        entry: DeliveryJournal.Entry?,
        served: [String] = [],
        learns: Bool = false,
        forgets: Bool = false,
        checksJournal: Bool = false
    ) {
        self.number = number
        self.entry = entry
        self.served = served
        self.learns = learns
        self.forgets = forgets
        self.checksJournal = checksJournal
    }

    /// Whether the journal is changed or checked. Any worker can do that.
    var changesJournal: Bool { checksJournal || entry != nil && (forgets || !served.isEmpty) }

    /// How the work ended.
    enum Result {
        case done
        /// The journal could not be written.
        case notRecorded
        /// The worker ended before it had done the work.
        case workerEnded
    }
}

extension ByteBuffer {
    mutating func writeSettlement(_ settlement: WorkerSettlement) {
        writeInteger(settlement.number)
        writeOptional(settlement.entry) { $0.writeEntry($1) }
        writeTexts(settlement.served)
        writeFlag(settlement.learns)
        writeFlag(settlement.forgets)
        writeFlag(settlement.checksJournal)
    }

    mutating func readSettlement() throws(WorkerFrameError) -> WorkerSettlement {
        WorkerSettlement(
            number: try readNumber(UInt64.self),
            entry: try readOptional { (buffer) throws(WorkerFrameError) in try buffer.readEntry() },
            served: try readTexts(),
            learns: try readFlag(),
            forgets: try readFlag(),
            checksJournal: try readFlag()
        )
    }

    mutating func writeEntry(_ entry: DeliveryJournal.Entry) {
        writeText(entry.queueID)
        writeInteger(UInt8(clamping: entry.digest.count))
        writeBytes(entry.digest)
        writeOptional(entry.recordsSince) { $0.writeInteger($1.timeIntervalSinceReferenceDate.bitPattern) }
    }

    mutating func readEntry() throws(WorkerFrameError) -> DeliveryJournal.Entry {
        let queueID = try readText()
        guard let digest = readBytes(length: Int(try readNumber(UInt8.self))) else { throw WorkerFrameError() }
        let since = try readOptional { (buffer) throws(WorkerFrameError) in
            Date(timeIntervalSinceReferenceDate: Double(bitPattern: try buffer.readNumber(UInt64.self)))
        }
        return DeliveryJournal.Entry(queueID: queueID, digest: digest, recordsSince: since)
    }
}
