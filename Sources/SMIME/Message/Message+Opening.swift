import ByteStreams
public import InternetMessage
import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Message {
    /// The message with all its layers opened, whatever it is: encrypted, signed, both in any order, or plain.
    ///
    /// What is wrong with signatures is in the report; errors are for what keeps the content from being read. Runs on
    /// `SMIMEExecutor`; a task that is cancelled ends between two pieces of the message.
    ///
    /// - Parameters:
    ///   - keys: the identities that decrypt, and the trusted certificates.
    ///   - time: the time at which certificates must be valid.
    /// - Throws: `.notForUs`, `.needsSecret`, `.certificatesOnly`, `.malformed`, `.decryptionFailed`, `.cancelled`, `.file`, and what
    ///   the provider throws.
    public func opened(
        with keys: some KeyProvider,
        at time: Date = .now
    ) async throws(SMIMEError) -> OpenedMessage {
        try await SMIMEError.inBackground {
            let message = try settled()
            return try await MessageOpener(keys, at: time).open(message.source, structure: message.structure)
        }
    }

    /// The report about the signatures; nothing is decrypted. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: `.file`, `.cancelled`, and the provider's errors.
    public func verified(
        with keys: some KeyProvider,
        at time: Date = .now
    ) async throws(SMIMEError) -> VerificationReport {
        try await SMIMEError.inBackground {
            let message = try settled()
            return try await MessageOpener(keys, at: time).verify(message.source, structure: message.structure).report
        }
    }
}

extension OpenedMessage: WritableContent {
    /// The author, proven by a valid signature over the whole message; nil without one.
    public var verifiedAuthor: EmailAddress? { learnable?.author }

    package func write(to sink: any ByteSink) throws { try write(to: sink, lineEnd: nil) }

    /// Writes what it says, in pieces that fit in memory.
    ///
    /// - Throws: `.file`, `.cancelled`; `.decryptionFailed` if the message changed since it was checked: what was written is then
    ///   not to be used; what `sink` throws, as `underlyingError` of a `.bug` if it is no `SMIMEError`.
    public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

    /// Writes what it says into a file of mode 0600, which appears whole or not at all.
    ///
    /// - Throws: as for a sink.
    public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path, isPrivate: true) }

    /// The content of a message that fits in memory.
    ///
    /// - Throws: as for a sink.
    public func bytes() throws(SMIMEError) -> [UInt8] { try allBytes() }
}
