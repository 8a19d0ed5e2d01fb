import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error type of the public interface: a code, the party that can resolve the error, and a sentence for people.
///
/// ```swift
/// do { … } catch let error as SMIMEError where error.code == .wrongPassphrase { … }
/// ```
public struct SMIMEError: Error, Sendable {
    /// The error code. New codes may be added in any version.
    public let code: Code
    /// One sentence for a log or a user, in lower case and without a full stop. It never contains a secret.
    public let description: String
    /// The error that caused this error; nil if there is none.
    public let underlyingError: (any Error)?

    /// - Parameters:
    ///   - code: the error code.
    ///   - description: one sentence, in lower case and without a full stop. It must not contain a secret.
    ///   - underlyingError: the error that caused this error; nil if there is none.
    public init(_ code: Code, _ description: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.underlyingError = underlyingError
    }

    /// The party that can resolve the error.
    public var kind: Kind { code.kind }

    /// The party that can resolve an error. It determines the gateway's reply to outgoing mail, with these exceptions:
    /// - An error of the kind `input` or `recipient` that is not about the mail itself gets 451 4.3.0.
    /// - The code `unusableSigner` gets 550 5.7.1.
    /// - The codes `loop`, `mustBeEncrypted` and `deferred` of the module SMIMEGateway have replies of their own.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The message or file does not have the expected format: 554 5.6.0.
        case input
        /// A recipient has no usable certificate, or the policy refuses the message: 550 5.7.1.
        case recipient
        /// A key or passphrase is missing or wrong: 451 4.3.5.
        case key
        /// The administrator must correct the store or a setting: 451 4.3.5.
        case configuration
        /// The same call may succeed later: 451 4.3.0.
        case temporary
        /// A file cannot be read or written, a disk is full, or code of the caller, such as a sink or a key provider,
        /// failed: 451 4.3.0.
        case inputOutput
        /// A bug in this library or in libcrypto: 451 4.3.0.
        case bug
    }

    /// An error code, comparable with the static codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, the same as its name in Swift.
        public let description: String
        /// The party that can resolve the error.
        public let kind: Kind

        package init(_ description: String, _ kind: Kind) {
            self.description = description
            self.kind = kind
        }

        /// Two codes are equal if they have the same name.
        public static func == (a: Code, b: Code) -> Bool { a.description == b.description }

        public func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }
}

extension SMIMEError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }
}

extension SMIMEError.Code {
    /// A bug in this library or in libcrypto.
    public static let bug = Self("bug", .bug)
    /// Code of the caller threw an error: a sink, a key provider, or a sequence of chunks. That error is the
    /// `underlyingError`. An `SMIMEError` of the caller is thrown unchanged, and a `CancellationError` becomes `cancelled`.
    public static let callback = Self("callback", .inputOutput)
    /// The task was cancelled.
    public static let cancelled = Self("cancelled", .temporary)
    /// The message only contains certificates; there is no content to open (RFC 8551 §3.8).
    public static let certificatesOnly = Self("certificatesOnly", .input)
    /// The cipher is weaker than the weakest allowed cipher.
    public static let cipherBelowFloor = Self("cipherBelowFloor", .configuration)
    /// Decryption failed. No reason is given, because the reason would help an attacker (RFC 3218).
    public static let decryptionFailed = Self("decryptionFailed", .input)
    /// A file cannot be opened, read, created or written.
    public static let file = Self("file", .inputOutput)
    /// The input exceeds a limit that protects against denial of service.
    public static let limitExceeded = Self("limitExceeded", .input)
    /// The input does not have the expected format.
    public static let malformed = Self("malformed", .input)
    /// The content is encrypted with a password or a shared key, and the caller gave none that matches.
    public static let needsSecret = Self("needsSecret", .key)
    /// No cipher is announced by all recipients.
    public static let noCommonCipher = Self("noCommonCipher", .recipient)
    /// There is no private key with a certificate that belongs to it.
    public static let noKeyPair = Self("noKeyPair", .key)
    /// The message is not encrypted, or only parts of it are.
    public static let notEncrypted = Self("notEncrypted", .input)
    /// The message is encrypted, but not for an available identity.
    public static let notForUs = Self("notForUs", .key)
    /// The content is encrypted with a cipher that does not detect changes, and the caller allows authenticated encryption
    /// only.
    public static let unauthenticated = Self("unauthenticated", .input)
    /// The algorithm or feature cannot be used here.
    public static let unsupported = Self("unsupported", .input)
    /// The certificate must not be used to encrypt.
    public static let unusableRecipient = Self("unusableRecipient", .recipient)
    /// A signature with this certificate would not be valid.
    public static let unusableSigner = Self("unusableSigner", .key)
    /// The passphrase is wrong.
    public static let wrongPassphrase = Self("wrongPassphrase", .key)
}

/// An internal error that has a code of the public interface.
package protocol CodedError: Error, CustomStringConvertible {
    /// The code in the public interface.
    var code: SMIMEError.Code { get }
}

extension SMIMEError {
    /// Converts any error to the error of the public interface.
    package init(_ error: any Error) {
        switch error {
        case let error as SMIMEError: self = error
        case let error as any CodedError: self.init(error.code, error.description, underlyingError: error)
        case is CancellationError: self.init(.cancelled, "cancelled", underlyingError: error)
        default: self.init(.bug, "\(error)", underlyingError: error)
        }
    }

    /// Converts an error that code of the caller threw, such as a sink or a key provider.
    package init(thrownByCaller error: any Error) {
        switch error {
        case is SMIMEError, is any CodedError, is CancellationError: self.init(error)
        // The text of a foreign error may contain anything, such as an address with a password.
        default: self.init(.callback, "code of the caller failed: \(type(of: error))", underlyingError: error)
        }
    }

    /// Runs `body` and converts the error that it throws to the error of the public interface.
    package static func catching<Value>(_ body: () throws -> Value) throws(SMIMEError) -> Value {
        do { return try body() } catch { throw SMIMEError(error) }
    }
}

extension CMSError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .decryptionFailed: .decryptionFailed
        case .limitExceeded: .limitExceeded
        case .malformed: .malformed
        case .noKeyPair: .noKeyPair
        case .openSSL: .bug
        case .unsupported: .unsupported
        case .wrongPassphrase: .wrongPassphrase
        }
    }
}

extension StreamError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .cannotCreate, .cannotOpen, .changedWhileReading, .notRegular, .readFailed, .spoolFailed, .writeFailed:
            .file
        case .cancelled: .cancelled
        case .alreadyCommitted: .bug
        case .malformedBase64: .malformed
        }
    }
}

extension MIMEError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .limitExceeded: .limitExceeded
        case .malformedAddress: .malformed
        case .unreadable(let error): error.code
        }
    }
}

extension OpenSSLError: CodedError {
    package var code: SMIMEError.Code { .bug }
}

extension MessageError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .certificatesOnly: .certificatesOnly
        case .cipherBelowFloor: .cipherBelowFloor
        case .defective, .malformed: .malformed
        case .needsSecret: .needsSecret
        case .noCommonCipher: .noCommonCipher
        case .notARecipient: .notForUs
        case .encryptedInParts, .notEncrypted: .notEncrypted
        case .tooManyLayers: .limitExceeded
        case .unauthenticated: .unauthenticated
        case .unusableRecipient: .unusableRecipient
        case .unusableSigner: .unusableSigner
        }
    }
}
