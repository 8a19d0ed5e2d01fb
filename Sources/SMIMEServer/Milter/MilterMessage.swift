import NIOCore

/// The received part of a message.
struct MilterMessage: Sendable {
    private(set) var envelope: MilterEnvelope
    /// Whether the envelope was already passed to the caller.
    private(set) var isBegun = false
    /// The fields of the header; empty once the header is too large to be changed (`isHeaderKept`).
    private(set) var fields: [MilterField] = []
    private(set) var isHeaderKept = true

    private let limits: MilterLimits
    private var envelopeBytes = 0
    private var headerBytes = 0
    /// The bytes of the header that were not passed to the caller yet.
    private var waiting = ByteBuffer()

    /// - Throws: `.envelopeTooLarge`
    init(from sender: MilterAddress, client: MilterClient?, limits: MilterLimits) throws(MilterViolation) {
        envelope = MilterEnvelope(sender: sender)
        envelope.client = client
        self.limits = limits
        try count(sender)
    }

    /// - Throws: `.envelopeTooLarge`
    mutating func add(_ recipient: MilterAddress) throws(MilterViolation) {
        guard envelope.recipients.count < limits.recipients else { throw .envelopeTooLarge }
        try count(recipient)
        envelope.recipients.append(recipient)
    }

    private mutating func count(_ address: MilterAddress) throws(MilterViolation) {
        // The terminating zero bytes count, so that many empty strings reach the limit, too.
        envelopeBytes += address.parameters.reduce(address.argument.utf8.count + 1) { $0 + $1.utf8.count + 1 }
        guard envelopeBytes <= limits.envelope else { throw .envelopeTooLarge }
    }

    /// The number of bytes of envelope and header that are held.
    var size: Int { envelopeBytes + (isHeaderKept ? headerBytes : 0) }

    /// The envelope with all macros received so far.
    mutating func envelope(with macros: [UInt8: [MilterMacro]]) -> MilterEnvelope {
        isBegun = true
        // A later command's macros replace an earlier one's.
        for command in "CHMRTNLBE".utf8 {
            for macro in macros[command] ?? [] { envelope.macros[macro.name] = macro.value }
        }
        return envelope
    }

    /// Stores a field for later changes.
    ///
    /// - Returns: bytes of the header to pass to the caller, once there are enough; otherwise nil.
    mutating func add(_ field: MilterField, leadingSpace: Bool) -> ByteBuffer? {
        let field = field.normalized
        let text = field.bytes(leadingSpace: leadingSpace)
        if field.isMessageID { envelope.hasMessageID = true }
        waiting.writeBytes(text)
        headerBytes += text.count
        if headerBytes > limits.header || fields.count >= limits.headerFields {
            isHeaderKept = false
            fields = []
        } else if isHeaderKept {
            fields.append(field)
        }
        return waiting.readableBytes >= 65_536 ? takeWaiting() : nil
    }

    /// The rest of the header with the empty line at its end.
    mutating func endHeader() -> ByteBuffer {
        waiting.writeStaticString("\r\n")
        return takeWaiting()
    }

    private mutating func takeWaiting() -> ByteBuffer {
        defer { waiting = ByteBuffer() }
        return waiting
    }
}
