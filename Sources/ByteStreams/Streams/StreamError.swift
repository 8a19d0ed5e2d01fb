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

/// Why bytes could not be read or written.
@nonexhaustive
package enum StreamError: Error, Equatable, Sendable {
    /// The task was cancelled while it read.
    case cancelled
    /// The file or temporary file cannot be made; `code` is errno.
    case cannotCreate(path: String, code: Int32)
    /// The file cannot be opened; `code` is errno.
    case cannotOpen(path: String, code: Int32)
    /// The file was changed while it was being read, so what was read twice may differ.
    case changedWhileReading
    /// The file was committed, so nothing more can be written to it.
    case committed(path: String)
    /// The text is not base64 (RFC 4648 §4).
    case malformedBase64
    /// A file that must be read in place is a pipe, a device or something else than a regular file.
    case notRegular(path: String)
    /// Reading failed; `code` is errno.
    case readFailed(code: Int32)
    /// The temporary file for a second reading cannot be written in its folder; `code` is errno.
    case spoolFailed(folder: String, code: Int32)
    /// Writing failed; `code` is errno.
    case writeFailed(code: Int32)
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
        case .committed(let path): "\(path): cannot write: it is finished already"
        case .malformedBase64: "malformed base64"
        case .notRegular(let path): "\(path): is not a regular file"
        case .readFailed(let code): "cannot read: \(String(cString: strerror(code)))"
        case .spoolFailed(let folder, let code): "\(folder): cannot write: \(String(cString: strerror(code)))"
        case .writeFailed(let code): "cannot write: \(String(cString: strerror(code)))"
        }
    }
}
