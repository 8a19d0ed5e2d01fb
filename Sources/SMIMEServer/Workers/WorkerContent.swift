package import NIOCore

/// The bytes of a message: in the frame if the message is small, otherwise in the spool that both processes have open.
package enum WorkerContent: Equatable, Sendable {
    case bytes(ByteBuffer)
    /// A range of the message's spool.
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
