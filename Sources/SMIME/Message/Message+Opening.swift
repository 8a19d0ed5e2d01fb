import ByteStreams
import CMSSyntax
public import InternetMessage
import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Message {
    /// Opens all layers of the message, whether it is encrypted, signed, both in any order, or neither.
    ///
    /// The report contains the problems of signatures; an error is thrown only if the content cannot be read. Runs on
    /// `SMIMEExecutor`. If the task is cancelled, opening ends between two pieces of the message.
    ///
    /// - Parameters:
    ///   - keys: the identities that decrypt, and the trusted certificates.
    ///   - password: the password for content encrypted with a password; nil if there is none.
    ///   - onlyAuthenticated: whether content is decrypted only if its encryption protects against changes, which CBC does
    ///     not. Set it in a program that opens mail by itself and shows in any way whether that succeeded: an attacker could
    ///     otherwise send changed copies of an intercepted mail and learn its content from the answers.
    ///   - time: the time at which certificates must be valid.
    /// - Throws: `.unauthenticated`, `.notForUs`, `.needsSecret`, `.certificatesOnly`, `.malformed`, `.unsupported`,
    ///   `.limitExceeded`, `.decryptionFailed`, `.cancelled`, `.file`; `.callback` with the error that the provider throws,
    ///   unless that is an `SMIMEError`; errors of writing, if `signed` or `encrypted` was called for the message.
    public func opened(
        with keys: some KeyProvider,
        password: String? = nil,
        onlyAuthenticated: Bool = false,
        at time: Date = .now
    ) async throws(SMIMEError) -> OpenedMessage {
        try await SMIMEError.inBackground {
            let message = try applyingProtection()
            return try await MessageOpener(CallersKeys(keys), at: time, secret: .init(given: password))
                .open(message.source, structure: message.structure, onlyAuthenticated: onlyAuthenticated)
        }
    }

    /// Verifies the signatures without decrypting anything. Runs on `SMIMEExecutor`.
    ///
    /// - Throws: `.file`, `.cancelled`, `.callback` and other errors of the provider, and errors of writing, as for `opened`.
    public func verified(
        with keys: some KeyProvider,
        at time: Date = .now
    ) async throws(SMIMEError) -> VerificationReport {
        try await SMIMEError.inBackground {
            let message = try applyingProtection()
            return try await MessageOpener(CallersKeys(keys), at: time)
                .verify(message.source, structure: message.structure).report
        }
    }
}

extension SharedSecret? {
    /// The secret for `password`; nil if `password` is nil.
    init(given password: String?) {
        self = password.map { SharedSecret(password: Passphrase($0.utf8)) }
    }
}

extension OpenedMessage: WritableContent {
    /// The address in From, if it is verified: a valid signature of this address alone covers the whole message. Nil in all
    /// other cases. For example, the message has several signers, is valid only because of `VerdictExceptions`, or is signed
    /// only outside the encryption, so that the signer may not know the content.
    public var verifiedAuthor: EmailAddress? {
        switch report.summary {
        case .verified, .confidentialAndVerified: learnable?.author
        case .confidential, .unprotected: nil
        }
    }

    package func write(to sink: any ByteSink) throws { try write(to: sink, lineEnd: nil) }

    /// Writes the opened message in pieces that fit in memory.
    ///
    /// - Throws: `.file`, `.cancelled`; `.file` or `.decryptionFailed` if the message changed after it was checked, in which
    ///   case the output must not be used; `.callback` with the error that `sink` throws, unless that is an `SMIMEError`.
    public func write(to sink: (RawSpan) throws -> Void) throws(SMIMEError) { try writeAll(to: sink) }

    /// Writes the opened message into a file of mode 0600. The file appears only when it is complete, unless `path` is a
    /// pipe or device.
    ///
    /// - Throws: the errors of writing to a sink.
    public func write(to path: String) throws(SMIMEError) { try writeAll(toFile: path) }

    /// The bytes of the opened message, which must fit in memory.
    ///
    /// - Throws: the errors of writing to a sink.
    public func bytes() throws(SMIMEError) -> [UInt8] { try allBytes() }
}
