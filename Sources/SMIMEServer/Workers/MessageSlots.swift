package import ByteStreams
import NIOCore

/// Places for the messages in flight: there are as many as `--max-messages` says, each with two spools that all workers inherit.
///
/// Everything here happens on the event loop.
package final class MessageSlots {
    private let messages: [ReusableSpool]
    private let forms: [ReusableSpool]
    private var free: [Int]
    private var waiting = CircularBuffer<(ticket: UInt64, completion: (MessageSlot) -> Void)>()
    private var lastTicket: UInt64 = 0

    /// - Throws: `StreamError` if the temporary files cannot be made.
    package init(count: Int) throws(StreamError) {
        var (messages, forms): ([ReusableSpool], [ReusableSpool]) = ([], [])
        for _ in 0..<count {
            messages.append(try ReusableSpool())
            forms.append(try ReusableSpool())
        }
        self.messages = messages
        self.forms = forms
        free = Array((0..<count).reversed())
    }

    /// The descriptors as `ServerWorker.spools` has them.
    var descriptors: [Int32] { zip(messages, forms).flatMap { [$0.descriptor, $1.descriptor] } }

    /// How many messages are in flight.
    var used: Int { messages.count - free.count }

    /// Gives a place, now or when one is free.
    ///
    /// - Returns: what `withdraw` takes; nil if the place was given already.
    func acquire(_ completion: @escaping (MessageSlot) -> Void) -> UInt64? {
        if let number = free.popLast() {
            completion(slot(number))
            return nil
        }
        lastTicket += 1
        waiting.append((lastTicket, completion))
        return lastTicket
    }

    /// Gives up waiting.
    func withdraw(_ ticket: UInt64) { waiting.removeAll { $0.ticket == ticket } }

    /// Takes a place back, and empties its spools.
    func release(_ slot: MessageSlot) {
        slot.clear()
        if let next = waiting.popFirst() { next.completion(self.slot(slot.number)) } else { free.append(slot.number) }
    }

    private func slot(_ number: Int) -> MessageSlot {
        MessageSlot(number: number, message: messages[number], forms: forms[number])
    }
}

/// The place of one message: its bytes stay in memory while they are few.
final class MessageSlot {
    let number: Int
    private let message: ReusableSpool
    private let forms: ReusableSpool
    private var memory = ByteBuffer()
    private var spooled = 0
    /// Whether a worker wrote forms into the second spool.
    var hasSpooledForms = false

    init(number: Int, message: ReusableSpool, forms: ReusableSpool) {
        self.number = number
        self.message = message
        self.forms = forms
    }

    /// How many bytes the message has so far.
    var count: Int { spooled + memory.readableBytes }

    /// Adds bytes to the message.
    ///
    /// - Throws: `StreamError.writeFailed`
    func append(_ bytes: ByteBuffer) throws(StreamError) {
        memory.writeImmutableBuffer(bytes)
        if memory.readableBytes >= WorkerContent.maximumInFrame { try flush() }
    }

    /// The whole message, for a worker.
    ///
    /// - Throws: `StreamError.writeFailed`
    func content() throws(StreamError) -> WorkerContent {
        guard spooled > 0 else { return .bytes(memory) }
        try flush()
        return .spooled(0..<spooled)
    }

    /// A part of a form that a worker wrote.
    ///
    /// - Throws: `StreamError.readFailed`
    func formBytes(in range: Range<Int>) throws -> ByteBuffer {
        ByteBuffer(bytes: try forms.source(in: range).bytes(in: 0..<range.count))
    }

    /// A part of `form`, whose first byte is at 0.
    ///
    /// - Throws: what reading throws.
    func bytes(of form: WorkerContent, in range: Range<Int>) throws -> ByteBuffer {
        switch form {
        case .bytes(let bytes): try bytes.slice(range)
        case .spooled(let place):
            try formBytes(in: place.lowerBound + range.lowerBound..<place.lowerBound + range.upperBound)
        }
    }

    /// A part of the message as it came.
    ///
    /// - Throws: what reading throws.
    func originalBytes(in range: Range<Int>) throws -> ByteBuffer {
        switch try content() {
        case .bytes(let bytes): try bytes.slice(range)
        case .spooled: ByteBuffer(bytes: try message.source(in: range).bytes(in: 0..<range.count))
        }
    }

    private func flush() throws(StreamError) {
        guard memory.readableBytes > 0 else { return }
        let bytes = Array(memory.readableBytesView)
        try message.write(bytes, at: spooled)
        spooled += bytes.count
        memory.clear(minimumCapacity: 0)
    }

    func clear() {
        memory = ByteBuffer()
        // A disk that cannot give back room has none to lose either.
        if spooled > 0 { try? message.clear() }
        // A worker that died may have left half a form.
        if spooled > 0 || hasSpooledForms { try? forms.clear() }
        (spooled, hasSpooledForms) = (0, false)
    }
}

extension ByteBuffer {
    /// - Throws: `StreamError.changedWhileReading` for bytes that are not there.
    fileprivate func slice(_ range: Range<Int>) throws(StreamError) -> ByteBuffer {
        guard let slice = getSlice(at: readerIndex + range.lowerBound, length: range.count) else {
            throw .changedWhileReading
        }
        return slice
    }
}
