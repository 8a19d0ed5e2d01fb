import ByteStreams
public import Foundation
import InternetMessage
import PKIX

extension Message {
    /// The message with all its layers opened, whatever it is: encrypted, signed, both in any order, or plain.
    ///
    /// What is wrong with signatures is in the report; errors are for what keeps the content from being read.
    ///
    /// - Parameter time: as of when certificates are judged.
    /// - Throws: `SMIMEError.notARecipient`, `.needsSecret`, `.certificatesOnly`, `.malformed`; `CMSError.decryptionFailed`;
    ///   `CancellationError`; what reading and the provider throw.
    public func opened(with keys: some KeyProvider, at time: Date = .now) async throws -> OpenedMessage {
        let message = try settled()
        return try await MessageOpener(keys, at: time).open(message.source, structure: message.structure)
    }

    /// What is to be said about the signatures; nothing is decrypted.
    ///
    /// - Throws: `StreamError`, `CancellationError`, or what the provider throws.
    public func verified(with keys: some KeyProvider, at time: Date = .now) async throws -> VerificationReport {
        let message = try settled()
        return try await MessageOpener(keys, at: time).verify(message.source, structure: message.structure).report
    }
}

extension OpenedMessage {
    /// Who wrote it, as a valid signature of all of it shows; nil if none does.
    public var verifiedAuthor: EmailAddress? { learnable?.author }

    /// Writes what it says into a file of mode 0600, which appears whole or not at all.
    ///
    /// - Throws: `StreamError.cannotCreate`; as for a sink.
    public func write(to path: String) throws {
        let output = try OutputFile(path: path, isPrivate: true)
        try write(to: output)
        try output.commit()
    }

    /// What it says, for a message that fits in memory.
    ///
    /// - Throws: as for a sink.
    public func bytes() throws -> [UInt8] {
        let sink = MemorySink()
        try write(to: sink)
        return sink.bytes
    }
}
