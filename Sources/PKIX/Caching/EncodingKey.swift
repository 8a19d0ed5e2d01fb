import ByteStreams

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An encoding as a dictionary key, hashed in one piece; Swift would hash an array byte by byte.
struct EncodingKey: Hashable, Sendable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }
}
