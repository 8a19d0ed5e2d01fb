import LibCrypto
package import NIOCore
import SMIMEGateway
package import SMIMEStore

/// A copy of a message: finished content with its envelope.
package struct WorkerMessageCopy: Equatable, Sendable {
    /// The envelope sender; empty for the null sender.
    package let sender: String
    /// The recipients of this copy: some or all of the job's recipients, written as in the job.
    package let recipients: [String]
    /// Whether the content contains a byte above 127.
    package let isEightBit: Bool
    package let content: WorkerContent

    package init(
        sender: String,
        recipients: [String],
        isEightBit: Bool,
        content: WorkerContent
    ) {
        self.sender = sender
        self.recipients = recipients
        self.isEightBit = isEightBit
        self.content = content
    }
}

/// The reason that a message is refused.
package struct WorkerRefusal: Equatable, Sendable {
    /// The reply code (RFC 5321 §4.2.3).
    package let code: Int
    /// The enhanced status code (RFC 3463).
    package let enhancedCode: String
    /// One sentence for the sender, possibly followed by further lines.
    package let sentence: String
    /// A text for the administrator's log, which the sender does not need.
    package let detail: String

    package init(
        code: Int,
        enhancedCode: String,
        sentence: String,
        detail: String
    ) {
        self.code = code
        self.enhancedCode = enhancedCode
        self.sentence = sentence
        self.detail = detail
    }
}

/// The result of handling a message.
package enum WorkerOutcome: Equatable, Sendable {
    /// The copies to send to the next hop. `entry` is the message's entry in the journal, or nil if it has none; `learns` is
    /// true if there are certificates to learn from the message.
    case copies([WorkerMessageCopy], entry: DeliveryJournal.Entry?, learns: Bool)
    /// All recipients have already got the message.
    case served
    case refused(WorkerRefusal)
}

/// An answer of a worker to the service.
package enum WorkerAnswer: Equatable, Sendable {
    /// The store is open. `locksKeys` tells whether private keys are in memory that is not swapped out.
    case ready(locksKeys: Bool)
    /// The store cannot be used.
    case unusable(WorkerFailure)
    case handled(number: UInt64, WorkerOutcome, WorkerLog)
    /// The `settle` request was handled. `isRecorded` is false if the journal could not be written. The log names what was
    /// learned, and its warnings name what failed.
    case settled(number: UInt64, isRecorded: Bool, WorkerLog)
    /// The number of the accounts' certificates that expire within 30 days and have no successor
    /// (`Store.lapsingCertificates`).
    case expiring(Int)
    /// The obstacle to using the store now; nil if there is none.
    case checked(WorkerObstacle?)

    /// The encoded answer, with the length of the frame.
    package var frame: ByteBuffer {
        WorkerFrame.encode(contentCount: contentCount) { buffer in
            switch self {
            case .ready(let locksKeys):
                buffer.writeInteger(UInt8(0))
                buffer.writeFlag(locksKeys)
            case .unusable(let failure):
                buffer.writeInteger(UInt8(1))
                buffer.writeText(failure.reason)
                buffer.writeFlag(failure.isLasting)
                buffer.writeTexts(failure.hints)
            case .handled(let number, let outcome, let log):
                buffer.writeInteger(UInt8(2))
                buffer.writeInteger(number)
                buffer.writeOutcome(outcome)
                buffer.writeLog(log)
            case .settled(let number, let isRecorded, let log):
                buffer.writeInteger(UInt8(3))
                buffer.writeInteger(number)
                buffer.writeFlag(isRecorded)
                buffer.writeLog(log)
            case .expiring(let count):
                buffer.writeInteger(UInt8(4))
                buffer.writeInteger(UInt32(clamping: count))
            case .checked(let obstacle):
                buffer.writeInteger(UInt8(5))
                buffer.writeOptional(obstacle) { buffer, obstacle in
                    buffer.writeText(obstacle.reason)
                    buffer.writeFlag(obstacle.isOfKeys)
                }
            }
        }
    }

    private var contentCount: Int {
        guard case .handled(_, .copies(let copies, _, _), _) = self else { return 0 }
        return copies.reduce(0) { $0 + $1.content.countInFrame }
    }

    /// Parses a frame without its length.
    package init(_ frame: ByteBuffer) throws(WorkerFrameError) {
        var buffer = frame
        switch try buffer.readNumber(UInt8.self) {
        case 0: self = .ready(locksKeys: try buffer.readFlag())
        case 1:
            self = .unusable(
                WorkerFailure(
                    try buffer.readText(),
                    isLasting: try buffer.readFlag(),
                    hints: try buffer.readTexts()
                )
            )
        case 2:
            self = .handled(
                number: try buffer.readNumber(UInt64.self),
                try buffer.readOutcome(),
                try buffer.readLog()
            )
        case 3:
            self = .settled(
                number: try buffer.readNumber(UInt64.self),
                isRecorded: try buffer.readFlag(),
                try buffer.readLog()
            )
        case 4: self = .expiring(Int(try buffer.readNumber(UInt32.self)))
        case 5:
            self = .checked(
                try buffer.readOptional { (buffer) throws(WorkerFrameError) in
                    WorkerObstacle(try buffer.readText(), isOfKeys: try buffer.readFlag())
                }
            )
        default: throw WorkerFrameError()
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeOutcome(_ outcome: WorkerOutcome) {
        switch outcome {
        case .copies(let copies, let entry, let learns):
            writeInteger(UInt8(0))
            writeList(copies) { buffer, copy in
                buffer.writeText(copy.sender)
                buffer.writeTexts(copy.recipients)
                buffer.writeFlag(copy.isEightBit)
                buffer.writeContent(copy.content)
            }
            writeOptional(entry) { $0.writeEntry($1) }
            writeFlag(learns)
        case .served: writeInteger(UInt8(1))
        case .refused(let refusal):
            writeInteger(UInt8(2))
            writeInteger(UInt16(clamping: refusal.code))
            writeText(refusal.enhancedCode)
            writeText(refusal.sentence)
            writeText(refusal.detail)
        }
    }

    fileprivate mutating func readOutcome() throws(WorkerFrameError) -> WorkerOutcome {
        switch try readNumber(UInt8.self) {
        case 0:
            let copies = try readList { (buffer) throws(WorkerFrameError) in
                WorkerMessageCopy(
                    sender: try buffer.readText(),
                    recipients: try buffer.readTexts(),
                    isEightBit: try buffer.readFlag(),
                    content: try buffer.readContent()
                )
            }
            let entry = try readOptional { (buffer) throws(WorkerFrameError) in try buffer.readEntry() }
            return .copies(copies, entry: entry, learns: try readFlag())
        case 1: return .served
        case 2:
            return .refused(
                WorkerRefusal(
                    code: Int(try readNumber(UInt16.self)),
                    enhancedCode: try readText(),
                    sentence: try readText(),
                    detail: try readText()
                )
            )
        default: throw WorkerFrameError()
        }
    }

    fileprivate mutating func writeLog(_ log: WorkerLog) {
        writeFields(log.fields)
        writeFields(log.details)
        writeTexts(log.warnings)
        writeInteger(UInt32(clamping: log.cacheHits))
        writeInteger(UInt32(clamping: log.cacheMisses))
        writeInteger(log.changeCount)
        for operation in CryptoTime.Operation.allCases { writeInteger(log.cryptoTime[operation]) }
    }

    fileprivate mutating func readLog() throws(WorkerFrameError) -> WorkerLog {
        WorkerLog(
            fields: try readFields(),
            details: try readFields(),
            warnings: try readTexts(),
            cacheHits: Int(try readNumber(UInt32.self)),
            cacheMisses: Int(try readNumber(UInt32.self)),
            changeCount: try readNumber(Int64.self),
            cryptoTime: try readCryptoTime()
        )
    }

    private mutating func readCryptoTime() throws(WorkerFrameError) -> CryptoTime {
        var time = CryptoTime()
        for operation in CryptoTime.Operation.allCases { time[operation] = try readNumber(UInt64.self) }
        return time
    }

    private mutating func writeFields(_ fields: [LogField]) {
        writeList(fields) { buffer, field in
            buffer.writeText(field.key)
            buffer.writeTexts(field.values)
        }
    }

    private mutating func readFields() throws(WorkerFrameError) -> [LogField] {
        try readList { (buffer) throws(WorkerFrameError) in
            LogField(try buffer.readText(), try buffer.readTexts())
        }
    }
}
