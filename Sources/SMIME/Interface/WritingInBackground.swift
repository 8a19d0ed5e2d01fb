// The asynchronous forms of writing. In asynchronous code Swift chooses them instead of the synchronous ones.

extension Message {
    /// Signs and encrypts the message and writes the result in pieces, on `SMIMEExecutor`.
    ///
    /// - Throws: the errors of the synchronous form.
    public func write(to sink: @Sendable (RawSpan) throws -> Void) async throws(SMIMEError) {
        try await SMIMEError.inBackground { try writeAll(to: sink) }
    }

    /// Signs and encrypts the message and writes the result into a file, on `SMIMEExecutor`. The file appears only when it is complete.
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

    /// Writes the opened message into a file, on `SMIMEExecutor`. The file appears only when it is complete.
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

    /// Writes the bytes into a file, on `SMIMEExecutor`. The file appears only when it is complete.
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
