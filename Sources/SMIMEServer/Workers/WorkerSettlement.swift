import Foundation
import NIOCore
package import SMIMEStore

/// The work that remains when the result of a message is known.
package struct WorkerSettlement: Equatable, Sendable {
    /// The service's number for the message.
    package let number: UInt64
    /// The message's entry in the journal; nil if it has none.
    package let entry: DeliveryJournal.Entry?
    /// The recipients to record as served.
    package let served: [String]
    /// Whether certificates are learned from the message. Only the worker that handled the message can do that.
    package let learns: Bool
    /// Whether the journal forgets the message.
    package let forgets: Bool
    /// Whether to check that the journal can be written, for no message.
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

    /// Whether the journal changes. Any worker can do that.
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
