import ByteStreams

/// Bytes that were hashed, and where they come from.
struct SignedBytes: Sendable {
    let stream: ByteStream
    let source: any ByteSource
}
