package import NIOCore
package import SMIMEGateway

/// A message for a worker to handle.
package struct WorkerJob: Equatable, Sendable {
    /// The service's number for the message.
    package let number: UInt64
    package let role: GatewayRole
    /// The envelope sender; empty for the null sender.
    package let sender: String
    /// The envelope recipients as the mail server wrote them.
    package let recipients: [String]
    /// The message's name in the journal; nil if it has none.
    package let queueName: String?
    /// The number of the slot whose spools belong to the message.
    package let slot: Int
    /// The signal by which another worker died while handling the message; nil if none died.
    package let rescuedFrom: Int32?
    /// The largest change counter of the store that any worker has read; 0 if there is none.
    package let changeCount: Int64
    package let content: WorkerContent

    package init(
        number: UInt64,
        role: GatewayRole,
        sender: String,
        recipients: [String],
        queueName: String?,
        slot: Int,
        rescuedFrom: Int32?,
        changeCount: Int64 = 0,
        content: WorkerContent
    ) {
        self.number = number
        self.role = role
        self.sender = sender
        self.recipients = recipients
        self.queueName = queueName
        self.slot = slot
        self.rescuedFrom = rescuedFrom
        self.changeCount = changeCount
        self.content = content
    }
}

/// A request of the service to a worker.
package enum WorkerRequest: Equatable, Sendable {
    case handle(WorkerJob)
    /// Asks for the work that remains when the result of a message is known, or for a check of the journal.
    case settle(WorkerSettlement)
    /// Asks how many of the accounts' certificates expire soon and have no successor.
    case countExpiring
    /// Asks whether the store can be used.
    case check

    /// The encoded request, with the length of the frame.
    package var frame: ByteBuffer {
        WorkerFrame.encode(contentCount: contentCount) { buffer in
            switch self {
            case .handle(let job):
                buffer.writeInteger(UInt8(0))
                buffer.writeInteger(job.number)
                buffer.writeText(job.role.rawValue)
                buffer.writeText(job.sender)
                buffer.writeTexts(job.recipients)
                buffer.writeOptional(job.queueName) { $0.writeText($1) }
                buffer.writeInteger(UInt32(clamping: job.slot))
                buffer.writeOptional(job.rescuedFrom) { $0.writeInteger($1) }
                buffer.writeInteger(job.changeCount)
                buffer.writeContent(job.content)
            case .settle(let settlement):
                buffer.writeInteger(UInt8(1))
                buffer.writeSettlement(settlement)
            case .countExpiring: buffer.writeInteger(UInt8(2))
            case .check: buffer.writeInteger(UInt8(3))
            }
        }
    }

    private var contentCount: Int {
        guard case .handle(let job) = self else { return 0 }
        return job.content.countInFrame
    }

    /// Parses a frame without its length.
    package init(_ frame: ByteBuffer) throws(WorkerFrameError) {
        var buffer = frame
        switch try buffer.readNumber(UInt8.self) {
        case 0:
            let number = try buffer.readNumber(UInt64.self)
            guard let role = GatewayRole(rawValue: try buffer.readText()) else { throw WorkerFrameError() }
            self = .handle(
                WorkerJob(
                    number: number,
                    role: role,
                    sender: try buffer.readText(),
                    recipients: try buffer.readTexts(),
                    queueName: try buffer.readOptional { (buffer) throws(WorkerFrameError) in try buffer.readText() },
                    slot: Int(try buffer.readNumber(UInt32.self)),
                    rescuedFrom: try buffer.readOptional { (buffer) throws(WorkerFrameError) in
                        try buffer.readNumber(Int32.self)
                    },
                    changeCount: try buffer.readNumber(Int64.self),
                    content: try buffer.readContent()
                )
            )
        case 1: self = .settle(try buffer.readSettlement())
        case 2: self = .countExpiring
        case 3: self = .check
        default: throw WorkerFrameError()
        }
    }
}

/// The bytes of a message: in the frame if the message is small, otherwise in the spool that both processes have open.
package enum WorkerContent: Equatable, Sendable {
    case bytes(ByteBuffer)
    /// A range of a spool of the slot: of the first for a received message, of the second for a copy.
    case spooled(Range<Int>)

    /// The maximum number of bytes of a message in a frame. Larger messages are in a spool.
    package static let maximumInFrame = 64 << 10

    /// The number of bytes of the content in the frame.
    var countInFrame: Int {
        guard case .bytes(let buffer) = self else { return 0 }
        return buffer.readableBytes
    }

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .bytes(let buffer): buffer.readableBytes
        case .spooled(let range): range.count
        }
    }
}

extension ByteBuffer {
    mutating func writeContent(_ content: WorkerContent) {
        switch content {
        case .bytes(var buffer):
            writeInteger(UInt8(0))
            writeInteger(UInt32(clamping: buffer.readableBytes))
            writeBuffer(&buffer)
        case .spooled(let range):
            writeInteger(UInt8(1))
            writeInteger(Int64(range.lowerBound))
            writeInteger(Int64(range.upperBound))
        }
    }

    mutating func readContent() throws(WorkerFrameError) -> WorkerContent {
        switch try readNumber(UInt8.self) {
        case 0:
            let count = Int(try readNumber(UInt32.self))
            guard let bytes = readSlice(length: count) else { throw WorkerFrameError() }
            return .bytes(bytes)
        case 1:
            let (start, end) = (try readNumber(Int64.self), try readNumber(Int64.self))
            guard 0 <= start, start <= end else { throw WorkerFrameError() }
            return .spooled(Int(start)..<Int(end))
        default: throw WorkerFrameError()
        }
    }
}
