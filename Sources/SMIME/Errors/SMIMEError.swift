#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error type of the public interface: a code, the party that can resolve the error, and a sentence for people.
///
/// ```swift
/// do { alice = try Identity(pkcs12: file, passphrase: text) } catch where error.code == .wrongPassphrase { … }
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

    /// The party that can resolve an error. It determines the mail server's reply.
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
        /// A file, or code of the caller such as a sink or a key provider, cannot be read or written; or a disk is full:
        /// 451 4.3.0.
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
