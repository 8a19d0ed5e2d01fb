import Foundation
package import NIOCore

/// Frames between the service and a worker: a length of four bytes, then a kind, then its fields.
///
/// Both ends are the same program, so there are no versions. A frame that cannot be read ends the worker.
package enum WorkerFrame {
    /// The largest frame: the envelope of 10,000 recipients fits, and a message in the frame.
    package static let maximumLength = 16 << 20
    /// How much the envelope and the log of a usual message take.
    private static let envelopeCount = 1 << 10

    /// A buffer with one whole frame of what `body` writes.
    ///
    /// - Parameter contentCount: how many bytes of messages are in it: the buffer gets room for them at once.
    package static func encode(contentCount: Int = 0, _ body: (inout ByteBuffer) -> Void) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: envelopeCount + contentCount)
        buffer.writeInteger(UInt32(0))
        body(&buffer)
        buffer.setInteger(UInt32(clamping: buffer.readableBytes - 4), at: buffer.readerIndex)
        return buffer
    }

    /// Takes one frame off the front of `buffer`; nil if it is not all there yet.
    ///
    /// - Throws: `WorkerFrameError` for a length that no frame has.
    package static func next(in buffer: inout ByteBuffer) throws(WorkerFrameError) -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= maximumLength else { throw WorkerFrameError() }
        guard buffer.readableBytes >= 4 + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: 4)
        return buffer.readSlice(length: Int(length))
    }
}

/// The other process sent something that is no frame.
package struct WorkerFrameError: Error, Equatable {
    package init() {}
}

extension WorkerFrameError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { "a frame between the service and a worker cannot be read" }
}

extension ByteBuffer {
    mutating func readNumber<Number: FixedWidthInteger>(_ type: Number.Type) throws(WorkerFrameError) -> Number {
        guard let number = readInteger(as: type) else { throw WorkerFrameError() }
        return number
    }

    mutating func readFlag() throws(WorkerFrameError) -> Bool { try readNumber(UInt8.self) != 0 }

    mutating func writeFlag(_ flag: Bool) { writeInteger(UInt8(flag ? 1 : 0)) }

    mutating func writeText(_ text: String) {
        writeInteger(UInt32(clamping: text.utf8.count))
        writeString(text)
    }

    mutating func readText() throws(WorkerFrameError) -> String {
        let count = Int(try readNumber(UInt32.self))
        guard let text = readString(length: count) else { throw WorkerFrameError() }
        return text
    }

    mutating func writeOptional<Value>(_ value: Value?, _ write: (inout ByteBuffer, Value) -> Void) {
        writeFlag(value != nil)
        if let value { write(&self, value) }
    }

    mutating func readOptional<Value>(
        _ read: (inout ByteBuffer) throws(WorkerFrameError) -> Value
    ) throws(WorkerFrameError) -> Value? {
        try readFlag() ? try read(&self) : nil
    }

    mutating func writeList<Value>(_ values: [Value], _ write: (inout ByteBuffer, Value) -> Void) {
        writeInteger(UInt32(clamping: values.count))
        for value in values { write(&self, value) }
    }

    mutating func readList<Value>(
        _ read: (inout ByteBuffer) throws(WorkerFrameError) -> Value
    ) throws(WorkerFrameError) -> [Value] {
        let count = Int(try readNumber(UInt32.self))
        // Each value has a byte at least.
        guard count <= readableBytes else { throw WorkerFrameError() }
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    mutating func writeTexts(_ texts: [String]) { writeList(texts) { $0.writeText($1) } }

    mutating func readTexts() throws(WorkerFrameError) -> [String] {
        try readList { (buffer) throws(WorkerFrameError) in try buffer.readText() }
    }
}
