import InternetMessage
import NIOCore

/// Replaces a message in the mail server by one of its copies: the header as a list of changes, and the body in pieces, as
/// fast as the socket accepts them.
final class InPlaceSender {
    /// The number of bytes of the body that are read at once.
    private static let window = 64 << 10
    /// The maximum length in bytes of the original header, and of the new one with the additions of smime.
    private static let maximumHeader = 2 << 20

    private let copy: MessageFlow.MessageCopy
    private let slot: MessageSlot
    private let channel: any Channel
    private let header: [UInt8]
    private let isBodyUnchanged: Bool
    private var unsent: Range<Int>
    private var write: (ByteBuffer) -> Void = { _ in }
    private var end: ((_ failure: String?) -> Void)?

    /// - Throws: errors of reading and writing the spools; `MilterEditError.malformedHeader` if the original header or
    ///   the copy's header has no end within `maximumHeader` bytes.
    init(_ copy: MessageFlow.MessageCopy, _ slot: MessageSlot, over channel: any Channel) throws {
        self.copy = copy
        self.slot = slot
        self.channel = channel
        let original = try slot.content()
        let length = try Self.headerLength(copy.content) { try slot.bytes(of: copy.content, in: $0) }
        let oldLength = try Self.headerLength(original) { try slot.originalBytes(in: $0) }
        header = Array(try slot.bytes(of: copy.content, in: 0..<length).readableBytesView)
        unsent = length..<copy.content.count
        isBodyUnchanged = try Self.isSame(unsent, as: oldLength..<original.count, of: copy, in: slot)
    }

    private static func isSame(
        _ body: Range<Int>,
        as old: Range<Int>,
        of copy: MessageFlow.MessageCopy,
        in slot: MessageSlot
    ) throws -> Bool {
        guard body.count == old.count else { return false }
        return try stride(from: 0, to: old.count, by: window).allSatisfy { offset in
            let count = min(window, old.count - offset)
            let (mine, theirs) = (body.lowerBound + offset, old.lowerBound + offset)
            return try slot.bytes(of: copy.content, in: mine..<mine + count)
                == slot.originalBytes(in: theirs..<theirs + count)
        }
    }

    /// The verdict that the session must send first. `envelope` is the envelope of the received message.
    func verdict(for envelope: MilterEnvelope) -> MilterVerdict {
        let kept = Set(copy.envelope.recipients.map { ExactText($0.address) })
        let removed = envelope.recipients.indices.filter { !kept.contains(ExactText(envelope.recipients[$0].address)) }
        var sender: MilterAddress?
        if copy.envelope.sender != envelope.sender.address {
            sender = MilterAddress("<\(copy.envelope.sender)>", parameters: envelope.sender.parameters)
        }
        let body: MilterReplacement.Body = isBodyUnchanged ? .unchanged : .follows
        return .replace(MilterReplacement(header: header, body: body, removing: removed, sender: sender))
    }

    /// Sends the body with `write`. Calls `end` with nil when all of it was passed to `write`, or with the reason of a failure.
    func run(write: @escaping (ByteBuffer) -> Void, end: @escaping (_ failure: String?) -> Void) {
        self.write = write
        self.end = end
        if isBodyUnchanged { unsent = 0..<0 }
        sendMore()
    }

    /// Sends as much of the body as the socket accepts now.
    func sendMore() {
        guard end != nil else { return }
        do {
            while !unsent.isEmpty, channel.isWritable {
                let piece = unsent.prefix(Self.window)
                let bytes = try slot.bytes(of: copy.content, in: piece)
                // `unsent` is set first, because `write` may call this function again.
                unsent = piece.upperBound..<unsent.upperBound
                write(bytes)
            }
            if unsent.isEmpty { finish(nil) }
        } catch {
            finish("\(error)")
        }
    }

    /// Stops sending, because the mail server abandoned the message or the connection has ended.
    func cancel() { finish("the mail server has abandoned the message or closed the connection") }

    private func finish(_ failure: String?) {
        let end = end
        self.end = nil
        end?(failure)
    }

    /// The length of the header in bytes, including the empty line at its end.
    private static func headerLength(
        _ content: WorkerContent,
        _ read: (Range<Int>) throws -> ByteBuffer
    ) throws -> Int {
        let bytes = Array(try read(0..<min(content.count, maximumHeader)).readableBytesView)
        if bytes.starts(with: [13, 10]) { return 2 }
        guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else { throw MilterEditError.malformedHeader }
        return end.upperBound
    }
}
