import Foundation
package import NIOCore
package import SMIMEStore

/// The format of the frames between the service and a worker: a length of four bytes, a kind, and the fields of the kind.
///
/// Both processes run the same program, so the format has no versions. If a frame cannot be parsed, the worker is ended.
package enum WorkerFrame {
    /// The maximum length of a frame in bytes. The largest envelope (4 MiB) and a message in the frame fit into it.
    package static let maximumLength = 16 << 20
    /// The usual length of envelope and log together, in bytes.
    private static let envelopeCount = 1 << 10

    /// A buffer with a frame that contains the output of `body`.
    ///
    /// - Parameter contentCount: the number of bytes of messages in the frame, for which the buffer reserves space.
    package static func encode(contentCount: Int = 0, _ body: (inout ByteBuffer) -> Void) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: envelopeCount + contentCount)
        buffer.writeInteger(UInt32(0))
        body(&buffer)
        buffer.setInteger(UInt32(clamping: buffer.readableBytes - 4), at: buffer.readerIndex)
        return buffer
    }

    /// Removes one frame from the start of `buffer`; nil if it is not complete yet.
    ///
    /// - Throws: `WorkerFrameError` if the frame is longer than `maximumLength`.
    package static func next(in buffer: inout ByteBuffer) throws(WorkerFrameError) -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= maximumLength else { throw WorkerFrameError() }
        guard buffer.readableBytes >= 4 + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: 4)
        return buffer.readSlice(length: Int(length))
    }
}

/// The error for bytes from the other process that are not a frame.
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
        // Each value has at least one byte, so a larger count is invalid.
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

/// The reason that a worker cannot work.
package struct WorkerFailure: Error, Equatable, Sendable {
    /// One sentence, in lower case and without a full stop.
    package let reason: String
    /// Whether an administrator must repair the store. At the start of the service, such a failure ends the service.
    package let isLasting: Bool
    /// Ways to repair the store, for the administrator who starts the service.
    package let hints: [String]

    package init(_ reason: String, isLasting: Bool, hints: [String] = []) {
        self.reason = reason
        self.isLasting = isLasting
        self.hints = hints
    }

    /// The failure that `error` of the store causes.
    package init(_ error: KeystoreError, hints: [String]) {
        let isLasting =
            switch error {
            case .corrupt, .missing, .newer, .noStore, .older, .unusableAddress, .unusableRole: true
            default: false
            }
        self.init("\(error)", isLasting: isLasting, hints: hints)
    }
}

extension WorkerFailure: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { reason }
    package var description: String { reason }
}

/// The reason that a worker with an open store cannot handle messages.
package struct WorkerObstacle: Equatable, Sendable {
    /// One sentence, in lower case and without a full stop.
    package let reason: String
    /// Whether only the private keys cannot be used. Messages that need no private key are then still handled.
    package let isOfKeys: Bool

    package init(_ reason: String, isOfKeys: Bool) {
        self.reason = reason
        self.isOfKeys = isOfKeys
    }

    /// The obstacle if no worker answers.
    package static let silence = Self("the store does not answer", isOfKeys: false)

    package init(_ obstacle: Store.Obstacle) {
        switch obstacle {
        case .database(let error): self.init("\(error)", isOfKeys: false)
        case .key(let error): self.init("\(error)", isOfKeys: true)
        }
    }
}
