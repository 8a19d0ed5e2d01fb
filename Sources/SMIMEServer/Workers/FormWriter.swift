import ByteStreams
import InternetMessage
import NIOCore
import SMIMEGateway

/// Makes finished messages ready for the service: small ones for the frame, others in the spool of forms.
struct FormWriter {
    private let spool: ReusableSpool
    private var position = 0

    /// The bytes that the frames of all forms together have room for, beside the envelope.
    private var room = 1 << 20

    init(_ spool: ReusableSpool) { self.spool = spool }

    /// - Throws: what reading and writing throw.
    mutating func form(_ message: Delivery.Message, from sender: String) throws -> WorkerMessageForm {
        let statistics = try LineStatistics(of: message.content.reader())
        // The content may have been encrypted with bare line feeds, and SMTP has no other line end than CRLF.
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
        return WorkerMessageForm(
            sender: sender,
            recipients: message.recipients,
            isEightBit: statistics.has8Bit,
            content: content
        )
    }
}
