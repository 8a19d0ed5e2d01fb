import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX

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
        default: self.init(.callback, "\(error)", underlyingError: error)
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
        case .committed: .bug
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
        case .notEncrypted: .notEncrypted
        case .tooManyLayers: .limitExceeded
        case .unauthenticated: .unauthenticated
        case .unusableRecipient: .unusableRecipient
        case .unusableSigner: .unusableSigner
        }
    }
}
