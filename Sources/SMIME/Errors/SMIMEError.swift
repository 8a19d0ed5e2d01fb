#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The one error of the public interface: what happened, what to do about it, and a sentence for people.
///
/// ```swift
/// do { try store.open() } catch let error as SMIMEError where error.code == .wrongPassphrase { … }
/// ```
public struct SMIMEError: Error, Sendable {
    /// The error code. New codes may be added in any version.
    public let code: Code
    /// One sentence for a log or a user, in lower case and without a full stop; never a secret.
    public let description: String
    /// The error below, if there is one.
    public let underlyingError: (any Error)?

    /// - Parameters:
    ///   - code: what happened.
    ///   - description: one sentence, in lower case and without a full stop; never a secret.
    ///   - underlyingError: the error that caused it.
    public init(_ code: Code, _ description: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.underlyingError = underlyingError
    }

    /// Who can resolve the error.
    public var kind: Kind { code.kind }

    /// The party that can resolve an error, which determines the mail server's reply.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The message or file is not what it should be: 554 5.6.0.
        case input
        /// A recipient or sender has no usable certificate or account: 550 5.7.1.
        case recipient
        /// A key or passphrase is missing, or is not the right one: 451 4.3.5.
        case key
        /// The store or a setting has to be put right by its administrator: 451 4.3.5.
        case configuration
        /// The same call may succeed later: 451 4.3.0.
        case temporary
        /// A file cannot be read or written, or a disk is full: 451 4.3.0.
        case inputOutput
        /// A fault of this library or of libcrypto: 451 4.3.0.
        case bug
    }

    /// An error code, comparable with the static codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as in this source.
        public let description: String
        /// Who can resolve the error.
        public let kind: Kind

        package init(_ description: String, _ kind: Kind) {
            self.description = description
            self.kind = kind
        }

        /// Codes are the same if their names are.
        public static func == (a: Code, b: Code) -> Bool { a.description == b.description }

        public func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }
}

extension SMIMEError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }
}
