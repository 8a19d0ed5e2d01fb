import ByteStreams
import InternetMessage
import NIOCore
import SMIMEGateway

/// Writes finished messages for the service: small ones into the frame, others into the spool for copies.
struct CopyWriter {
    private let spool: ReusableSpool
    private var position = 0

    /// The number of bytes left for all copies together in the frame, not counting the envelope.
    private var room = 1 << 20

    init(_ spool: ReusableSpool) { self.spool = spool }

    /// Converts bare line feeds of `message` to CRLF, stores the content in the frame or in the spool, and returns it
    /// with its envelope.
    ///
    /// - Throws: errors of reading and writing.
    mutating func copy(_ message: Delivery.Message, from sender: String) throws -> WorkerMessageCopy {
        if let copy = try smallCopy(message, from: sender) { return copy }
        let statistics = try LineStatistics(of: message.content.reader())
        // A decrypted message may have bare line feeds, but SMTP allows only CRLF.
        let isConverted = statistics.bareLF > 0
        let length = message.content.count + (isConverted ? statistics.bareLF : 0)
        let reader: any ByteReader =
            isConverted ? LineEndReader(message.content.reader(), lineEnd: .crlf) : message.content.reader()
        let content: WorkerContent
        if length <= min(WorkerContent.maximumInFrame, room) {
            let sink = MemorySink()
            try reader.copy(to: sink)
            room -= sink.bytes.count
            content = .bytes(ByteBuffer(bytes: sink.bytes))
        } else {
            let sink = ReusableSpoolSink(spool, from: position)
            try reader.copy(to: sink)
            content = .spooled(position..<sink.position)
            position = sink.position
        }
        return WorkerMessageCopy(
            sender: sender,
            recipients: message.recipients,
            isEightBit: statistics.has8Bit,
            content: content
        )
    }

    /// A copy in the frame for a message that can be copied unchanged and is small enough; nil for any other message.
    private mutating func smallCopy(
        _ message: Delivery.Message,
        from sender: String
    ) throws -> WorkerMessageCopy? {
        let count = message.content.count
        guard count <= min(WorkerContent.maximumInFrame, room) else { return nil }
        let bytes = try message.content.bytes(in: 0..<count)
        let statistics = LineStatistics(of: bytes)
        guard statistics.bareLF == 0 else { return nil }
        room -= count
        return WorkerMessageCopy(
            sender: sender,
            recipients: message.recipients,
            isEightBit: statistics.has8Bit,
            content: .bytes(ByteBuffer(bytes: bytes))
        )
    }
}
