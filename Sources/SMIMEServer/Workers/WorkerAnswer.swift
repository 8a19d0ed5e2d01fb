package import NIOCore

/// A finished message and its envelope.
package struct WorkerForm: Equatable, Sendable {
    /// The envelope sender; empty for the null sender.
    package let sender: String
    /// Some of the job's recipients, as the job named them.
    package let recipients: [String]
    /// Whether a byte above 127 is in it.
    package let isEightBit: Bool
    package let content: WorkerContent
}

/// One key of the log with its values.
package struct LogField: Equatable, Sendable {
    package let key: String
    package let values: [String]

    package init(_ key: String, _ values: [String]) {
        self.key = key
        self.values = values
    }
}

/// Why a message is not passed on.
package struct WorkerRefusal: Equatable, Sendable {
    package let isPermanent: Bool
    /// RFC 3463
    package let enhancedCode: String
    /// One sentence for the sender.
    package let sentence: String
    /// What the administrator should know, and the sender need not.
    package let detail: String
}

/// What came of a message.
package enum WorkerOutcome: Equatable, Sendable {
    /// Hand these on. `learns` says whether there is something to learn from it.
    case forms([WorkerForm], learns: Bool)
    /// All recipients have it already.
    case served
    case refused(WorkerRefusal)
}

/// What a worker says to the service.
package enum WorkerAnswer: Equatable, Sendable {
    /// The store is open.
    case ready
    /// The store cannot be used; `isLasting` says whether another attempt is no use before somebody mends it.
    case unusable(reason: String, isLasting: Bool)
    case handled(number: UInt64, WorkerOutcome, log: [LogField], warnings: [String])
    /// What was asked for at a message's end is done, as far as `warnings` do not say otherwise; `log` is about what was learned.
    case settled(number: UInt64, log: [LogField], warnings: [String])

    package var frame: ByteBuffer {
        WorkerFrame.encode { buffer in
            switch self {
            case .ready: buffer.writeInteger(UInt8(0))
            case .unusable(let reason, let isLasting):
                buffer.writeInteger(UInt8(1))
                buffer.writeText(reason)
                buffer.writeFlag(isLasting)
            case .handled(let number, let outcome, let log, let warnings):
                buffer.writeInteger(UInt8(2))
                buffer.writeInteger(number)
                buffer.writeOutcome(outcome)
                buffer.writeLog(log)
                buffer.writeTexts(warnings)
            case .settled(let number, let log, let warnings):
                buffer.writeInteger(UInt8(3))
                buffer.writeInteger(number)
                buffer.writeLog(log)
                buffer.writeTexts(warnings)
            }
        }
    }

    /// Reads one frame without its length.
    package init(_ frame: ByteBuffer) throws(WorkerFrameError) {
        var buffer = frame
        switch try buffer.readNumber(UInt8.self) {
        case 0: self = .ready
        case 1: self = .unusable(reason: try buffer.readText(), isLasting: try buffer.readFlag())
        case 2:
            self = .handled(
                number: try buffer.readNumber(UInt64.self),
                try buffer.readOutcome(),
                log: try buffer.readLog(),
                warnings: try buffer.readTexts()
            )
        case 3:
            self = .settled(
                number: try buffer.readNumber(UInt64.self),
                log: try buffer.readLog(),
                warnings: try buffer.readTexts()
            )
        default: throw WorkerFrameError()
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeOutcome(_ outcome: WorkerOutcome) {
        switch outcome {
        case .forms(let forms, let learns):
            writeInteger(UInt8(0))
            writeList(forms) { buffer, form in
                buffer.writeText(form.sender)
                buffer.writeTexts(form.recipients)
                buffer.writeFlag(form.isEightBit)
                buffer.writeContent(form.content)
            }
            writeFlag(learns)
        case .served: writeInteger(UInt8(1))
        case .refused(let refusal):
            writeInteger(UInt8(2))
            writeFlag(refusal.isPermanent)
            writeText(refusal.enhancedCode)
            writeText(refusal.sentence)
            writeText(refusal.detail)
        }
    }

    fileprivate mutating func readOutcome() throws(WorkerFrameError) -> WorkerOutcome {
        switch try readNumber(UInt8.self) {
        case 0:
            let forms = try readList { (buffer) throws(WorkerFrameError) in
                WorkerForm(
                    sender: try buffer.readText(),
                    recipients: try buffer.readTexts(),
                    isEightBit: try buffer.readFlag(),
                    content: try buffer.readContent()
                )
            }
            return .forms(forms, learns: try readFlag())
        case 1: return .served
        case 2:
            return .refused(
                WorkerRefusal(
                    isPermanent: try readFlag(),
                    enhancedCode: try readText(),
                    sentence: try readText(),
                    detail: try readText()
                )
            )
        default: throw WorkerFrameError()
        }
    }

    fileprivate mutating func writeLog(_ log: [LogField]) {
        writeList(log) { buffer, field in
            buffer.writeText(field.key)
            buffer.writeTexts(field.values)
        }
    }

    fileprivate mutating func readLog() throws(WorkerFrameError) -> [LogField] {
        try readList { (buffer) throws(WorkerFrameError) in
            LogField(try buffer.readText(), try buffer.readTexts())
        }
    }
}
