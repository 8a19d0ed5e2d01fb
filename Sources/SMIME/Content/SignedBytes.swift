import ByteStreams

/// The bytes that a signature covers, with the source that contains them.
struct SignedBytes: Sendable {
    let stream: ByteStream
    let source: any ByteSource
}
