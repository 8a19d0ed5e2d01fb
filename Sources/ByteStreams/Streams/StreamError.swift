#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error of reading or writing bytes.
@nonexhaustive
package enum StreamError: Error, Equatable, Sendable {
    /// The task was cancelled during a read.
    case cancelled
    /// The file or temporary file cannot be created; `code` is errno.
    case cannotCreate(path: String, code: Int32)
    /// The file cannot be opened; `code` is errno.
    case cannotOpen(path: String, code: Int32)
    /// The file changed while it was being read, so two reads may have returned different bytes.
    case changedWhileReading
    /// The file was already committed, so nothing more can be written to it.
    case alreadyCommitted(path: String)
    /// The text is not base64 (RFC 4648 §4).
    case malformedBase64
    /// The file is not a regular file, for example a pipe or device, so it does not support random access.
    case notRegular(path: String)
    /// Reading failed; `code` is errno.
    case readFailed(code: Int32)
    /// The spool's temporary file in `folder` cannot be written; `code` is errno.
    case spoolFailed(folder: String, code: Int32)
    /// Writing failed; `code` is errno.
    case writeFailed(code: Int32)
}

extension StreamError {
    /// Whether the host lacks disk space, memory or descriptors, so that a later attempt may succeed.
    package var isShortage: Bool {
        switch self {
        case .cannotCreate(_, let code), .cannotOpen(_, let code), .readFailed(let code), .spoolFailed(_, let code),
            .writeFailed(let code):
            [EDQUOT, EFBIG, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC].contains(code)
        case .alreadyCommitted, .cancelled, .changedWhileReading, .malformedBase64, .notRegular: false
        }
    }
}

extension StreamError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .cannotCreate(let path, let code): "\(path): cannot create: \(String(cString: strerror(code)))"
        case .cannotOpen(let path, let code): "\(path): cannot open: \(String(cString: strerror(code)))"
        case .changedWhileReading: "the input changed while it was being read"
        case .alreadyCommitted(let path): "\(path): cannot write: the file is already complete"
        case .malformedBase64: "malformed base64"
        case .notRegular(let path): "\(path): is not a regular file"
        case .readFailed(let code): "cannot read: \(String(cString: strerror(code)))"
        case .spoolFailed(let folder, let code): "\(folder): cannot write: \(String(cString: strerror(code)))"
        case .writeFailed(let code): "cannot write: \(String(cString: strerror(code)))"
        }
    }
}
