package import ByteStreams
import NIOCore

/// Slots for the messages in flight. The number of slots is the value of `--max-messages`. Each slot has two spools,
/// which all workers inherit.
///
/// Everything here runs on the event loop.
package final class MessageSlots {
    private let messages: [ReusableSpool]
    private let copies: [ReusableSpool]
    private var free: [Int]
    private var waiting = CircularBuffer<(ticket: UInt64, completion: (MessageSlot) -> Void)>()
    private var lastTicket: UInt64 = 0

    /// - Throws: `StreamError` if the temporary files cannot be created.
    package init(count: Int) throws(StreamError) {
        var (messages, copies): ([ReusableSpool], [ReusableSpool]) = ([], [])
        for _ in 0..<count {
            messages.append(try ReusableSpool())
            copies.append(try ReusableSpool())
        }
        self.messages = messages
        self.copies = copies
        free = Array((0..<count).reversed())
    }

    /// The descriptors of the spools, in the order of `ServerWorker.spools`.
    var descriptors: [Int32] { zip(messages, copies).flatMap { [$0.descriptor, $1.descriptor] } }

    /// The number of slots.
    var count: Int { messages.count }

    /// The number of messages in flight.
    var used: Int { messages.count - free.count }

    /// Calls `completion` with a slot, now or when one is free.
    ///
    /// - Returns: a ticket for `withdraw`; nil if the slot was available at once.
    func acquire(_ completion: @escaping (MessageSlot) -> Void) -> UInt64? {
        if let number = free.popLast() {
            completion(slot(number))
            return nil
        }
        lastTicket += 1
        waiting.append((lastTicket, completion))
        return lastTicket
    }

    /// Stops waiting for a slot.
    func withdraw(_ ticket: UInt64) { waiting.removeAll { $0.ticket == ticket } }

    /// Frees a slot and clears its spools.
    func release(_ slot: MessageSlot) {
        slot.clear()
        if let next = waiting.popFirst() { next.completion(self.slot(slot.number)) } else { free.append(slot.number) }
    }

    private func slot(_ number: Int) -> MessageSlot {
        MessageSlot(number: number, message: messages[number], copies: copies[number])
    }
}

/// The slot of one message. Small messages stay in memory.
final class MessageSlot {
    let number: Int
    private let message: ReusableSpool
    private let copies: ReusableSpool
    private var memory = ByteBuffer()
    private var spooled = 0
    /// Whether a worker wrote copies into the second spool.
    var mayHaveSpooledCopies = false

    init(number: Int, message: ReusableSpool, copies: ReusableSpool) {
        self.number = number
        self.message = message
        self.copies = copies
    }

    /// The number of bytes of the message received so far.
    var count: Int { spooled + memory.readableBytes }

    /// Appends bytes to the message.
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

    /// A range of the spool for copies, to which a worker wrote them.
    ///
    /// - Throws: `StreamError.readFailed`; `.changedWhileReading` if the spool is shorter than the range.
    func copyBytes(in range: Range<Int>) throws -> ByteBuffer {
        ByteBuffer(bytes: try copies.source(in: range).bytes(in: 0..<range.count))
    }

    /// A range of `copy`, counted from the start of the copy.
    ///
    /// - Throws: errors of reading.
    func bytes(of copy: WorkerContent, in range: Range<Int>) throws -> ByteBuffer {
        switch copy {
        case .bytes(let bytes): try bytes.slice(range)
        case .spooled(let place):
            try copyBytes(in: place.lowerBound + range.lowerBound..<place.lowerBound + range.upperBound)
        }
    }

    /// A range of the message as received.
    ///
    /// - Throws: errors of reading; `StreamError.writeFailed` if the end of the message must first be written to the
    ///   spool.
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
        // A failure to free the disk space is ignored: the next message overwrites the file from its start.
        if spooled > 0 { try? message.clear() }
        // A worker that died may have left an incomplete copy.
        if spooled > 0 || mayHaveSpooledCopies { try? copies.clear() }
        (spooled, mayHaveSpooledCopies) = (0, false)
    }
}

extension ByteBuffer {
    /// - Throws: `StreamError.changedWhileReading` if the range is beyond the end.
    fileprivate func slice(_ range: Range<Int>) throws(StreamError) -> ByteBuffer {
        guard let slice = getSlice(at: readerIndex + range.lowerBound, length: range.count) else {
            throw .changedWhileReading
        }
        return slice
    }
}
