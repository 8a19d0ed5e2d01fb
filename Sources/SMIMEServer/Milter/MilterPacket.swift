package import NIOCore

/// A packet of the milter protocol: a command or reply byte, and data. It is sent after its length in four bytes.
package struct MilterPacket: Hashable, Sendable {
    package var code: UInt8
    package var data: ByteBuffer

    package init(_ code: UInt8, _ data: ByteBuffer = ByteBuffer()) {
        self.code = code
        self.data = data
    }

    /// Appends the encoded packet to `buffer`.
    package func write(to buffer: inout ByteBuffer) {
        // All packets written here are much shorter than 4 GiB.
        buffer.writeInteger(UInt32(clamping: data.readableBytes + 1))
        buffer.writeInteger(code)
        buffer.writeImmutableBuffer(data)
    }
}

/// Splits the bytes of a connection into packets.
package struct MilterPacketDecoder: Sendable {
    private let limits: MilterLimits
    private var bytes = ByteBuffer()

    package init(limits: MilterLimits = MilterLimits()) {
        self.limits = limits
    }

    package mutating func append(_ more: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = more
        } else {
            // Otherwise consumed bytes would stay in the buffer while packets span several pieces.
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(more)
        }
    }

    /// The next complete packet; nil until more bytes arrive.
    ///
    /// A packet whose length exceeds the limit is rejected before its bytes are stored. After a violation nothing more can be
    /// read.
    ///
    /// - Throws: `.emptyPacket`, `.packetTooLarge`
    package mutating func next() throws(MilterViolation) -> MilterPacket? {
        let start = bytes.readerIndex
        guard let announced = bytes.getInteger(at: start, as: UInt32.self) else { return nil }
        let length = Int(announced)
        guard length > 0 else { throw .emptyPacket }
        guard let code = bytes.getInteger(at: start + 4, as: UInt8.self) else { return nil }
        guard length <= (code == MilterCommand.Code.header ? limits.headerPacket : limits.packet) else {
            throw .packetTooLarge(length: length)
        }
        guard bytes.readableBytes >= 4 + length else { return nil }
        bytes.moveReaderIndex(forwardBy: 5)
        return bytes.readSlice(length: length - 1).map { MilterPacket(code, $0) }
    }
}
