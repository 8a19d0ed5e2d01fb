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
    /// What happened. New codes may be added in any version.
    public let code: Code
    /// One sentence for a log or a user, in lower case and without a full stop; never a secret.
    public let description: String
    /// The error below, if there is one.
    public let underlyingError: (any Error)?

    /// - Parameter description: one sentence, in lower case and without a full stop; never a secret.
    public init(_ code: Code, _ description: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.underlyingError = underlyingError
    }

    /// Who or what can put it right.
    public var kind: Kind { code.kind }

    /// Who or what can put an error right, and so what a mail server answers.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The message or file is not what it should be: 554 5.6.0.
        case input
        /// There is no usable certificate or account for somebody it is for: 550 5.7.1.
        case recipient
        /// A key or passphrase is missing, or is not the right one.
        case key
        /// The store or a setting has to be put right by its administrator: 451 4.3.0.
        case configuration
        /// The same call may succeed later: 451 4.3.0.
        case temporary
        /// A file cannot be read or written, or a disk is full: 451 4.3.0.
        case inputOutput
        /// A fault of this library or of libcrypto: 451 4.3.0.
        case bug
    }

    /// What happened, to compare with the codes that there are.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as it stands in this source.
        public let description: String
        /// Who or what can put it right.
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
