import ByteStreams
import Foundation
import NIOCore
import SMIMEGateway

/// The worker's end of the socket to the service, for reading and writing one frame at a time.
///
/// The calls block, because the process handles one message at a time and has nothing else to do.
struct WorkerSocket {
    private let descriptor: Int32
    private var received = ByteBuffer()

    /// The number of bytes that are read at once: a message of usual size and its envelope.
    private static let window = 128 << 10

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next frame; nil when the service has closed its end, or when the socket cannot be read.
    ///
    /// - Throws: `WorkerFrameError`
    mutating func next() throws -> ByteBuffer? {
        // The memory of the last frame is reused, unless that frame was large.
        if received.readableBytes == 0 {
            if received.capacity > 2 * Self.window { received = ByteBuffer() } else { received.clear() }
        }
        while true {
            if let frame = try WorkerFrame.next(in: &received) { return frame }
            let count = received.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.window) { buffer in
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    if count >= 0 || errno != EINTR { return max(count, 0) }
                }
            }
            if count == 0 { return nil }
        }
    }

    /// Sends a frame.
    ///
    /// - Throws: `TransportError` if the service is gone.
    func send(_ frame: ByteBuffer) throws(TransportError) {
        let code = SystemCall.writeAll(descriptor, frame.readableBytesSpan.octets)
        guard code == 0 else { throw TransportError("the service has ended: \(String(cString: strerror(code)))") }
    }
}
