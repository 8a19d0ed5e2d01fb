import CZlib
import PKIX

/// A zlib stream that compresses or decompresses. It buffers no more than zlib's window.
///
/// RFC 1950; zlib: `inflate`, `deflate`
final class ZlibStream {
    /// The result of a step.
    struct Step {
        let consumed: Int
        let produced: Int
        /// Whether the compressed stream has ended.
        let isAtEnd: Bool
    }

    // zlib stores a pointer to the state, so the state must not move.
    private let state: UnsafeMutablePointer<z_stream>
    private let compresses: Bool

    /// - Throws: `CMSError.limitExceeded` if zlib cannot allocate memory.
    init(compresses: Bool) throws {
        state = .allocate(capacity: 1)
        state.initialize(to: z_stream())
        self.compresses = compresses
        let size = CInt(MemoryLayout<z_stream>.size)
        let result =
            compresses
            ? deflateInit_(state, Z_DEFAULT_COMPRESSION, ZLIB_VERSION, size) : inflateInit_(state, ZLIB_VERSION, size)
        guard result == Z_OK else { throw CMSError.limitExceeded("memory for zlib") }
    }

    deinit {
        _ = compresses ? deflateEnd(state) : inflateEnd(state)
        state.deallocate()
    }

    /// Processes the start of `input` and fills the start of `output`.
    ///
    /// - Parameter isLast: whether `input` is the last input; only needed for compression.
    /// - Throws: `CMSError.malformed` if the input of decompression is not a zlib stream.
    func step(
        _ input: Span<UInt8>,
        into output: inout MutableSpan<UInt8>,
        isLast: Bool = false
    ) throws -> Step {
        let (offered, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        let result = input.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                state.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                state.pointee.avail_in = offered
                state.pointee.next_out = output.baseAddress
                state.pointee.avail_out = room
                return compresses ? deflate(state, isLast ? Z_FINISH : Z_NO_FLUSH) : inflate(state, Z_NO_FLUSH)
            }
        }
        // Z_BUF_ERROR is not a failure: zlib needs more input, or more room for output.
        guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(result) else {
            throw CMSError.malformed(.cms, "the compressed content is damaged")
        }
        return Step(
            consumed: Int(offered - state.pointee.avail_in),
            produced: Int(room - state.pointee.avail_out),
            isAtEnd: result == Z_STREAM_END
        )
    }
}
