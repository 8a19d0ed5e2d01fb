import ByteStreams

// The asynchronous forms of `write`, `bytes` and `Message.init`. In an asynchronous function Swift prefers the asynchronous
// `write` and `bytes` to the synchronous ones.

extension Message {
    /// Signs and encrypts the message and writes the result in pieces, on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to sink: @Sendable (RawSpan) throws -> Void) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(to: sink) }
    }

    /// Signs and encrypts the message and writes the result into a file, on `SMIMEExecutor`. The file appears only when it
    /// is complete, unless `path` is a pipe or device.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to path: String) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(toFile: path) }
    }

    /// The bytes that `write` would write, which must fit in memory. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func bytes() async throws(SMIMEError) -> [UInt8] { try await SMIMEError.inBackground { try allBytes() } }
}

extension OpenedMessage {
    /// Writes the opened message in pieces, on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to sink: @Sendable (RawSpan) throws -> Void) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(to: sink) }
    }

    /// Writes the opened message into a file, on `SMIMEExecutor`. The file appears only when it is complete, unless `path` is
    /// a pipe or device.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to path: String) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(toFile: path) }
    }

    /// The bytes that `write` would write, which must fit in memory. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func bytes() async throws(SMIMEError) -> [UInt8] { try await SMIMEError.inBackground { try allBytes() } }
}

extension CryptographicMessage.Content {
    /// Writes the bytes in pieces, on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to sink: @Sendable (RawSpan) throws -> Void) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(to: sink) }
    }

    /// Writes the bytes into a file, on `SMIMEExecutor`. The file appears only when it is complete, unless `path` is a pipe or
    /// device.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to path: String) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(toFile: path) }
    }

    /// The bytes that `write` would write, which must fit in memory. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func bytes() async throws(SMIMEError) -> [UInt8] { try await SMIMEError.inBackground { try allBytes() } }
}

extension Message {
    /// A message that arrives in pieces. Up to 1 MB is kept in memory; larger messages are kept in an unlinked file. Runs on
    /// `SMIMEExecutor`.
    ///
    /// - Throws: `.callback` with the error that `chunks` throws, unless that is an `SMIMEError`; `.cancelled`; `.file` if the
    ///   file cannot be written; the errors of reading from bytes.
    public init<Chunks: AsyncSequence>(
        _ chunks: Chunks
    ) async throws(SMIMEError) where Chunks.Element: Sequence<UInt8> {
        self = try await withTaskExecutorPreference(SMIMEExecutor.shared) { () async throws(SMIMEError) in
            let spool = Spool()
            do {
                for try await chunk in chunks { try SMIMEError.catching { try spool.write(Array(chunk)) } }
            } catch { throw SMIMEError(thrownByCaller: error) }
            // A stream may end early without an error when its task is cancelled.
            guard !Task.isCancelled else { throw SMIMEError(CancellationError()) }
            return try Message(try SMIMEError.catching { try spool.finish() })
        }
    }
}
