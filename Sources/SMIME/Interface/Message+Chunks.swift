import ByteStreams

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
