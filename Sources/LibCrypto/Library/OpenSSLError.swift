import COpenSSL
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A failed libcrypto call, with all entries of libcrypto's error queue.
package struct OpenSSLError: Error, Equatable, Sendable {
    /// One entry of libcrypto's error queue.
    package struct Entry: Equatable, Sendable {
        /// The packed error code; `openssl errstr` explains the code if given in hexadecimal.
        package let code: UInt
        /// The part of libcrypto that reported the error; empty if that part has no name.
        package let library: String
        /// The reason in libcrypto's words; empty if libcrypto gives none.
        package let reason: String
        /// A detail that libcrypto added, such as a file name; nil if there is none. It is never a secret.
        package let detail: String?
    }

    /// The libcrypto function that failed, such as `EVP_DigestSign`.
    package let operation: String
    /// The error queue, root cause first.
    package let stack: [Entry]

    /// Takes all entries from this thread's error queue.
    ///
    /// Each thread has its own queue: call this before any `await`.
    package init(_ operation: StaticString) {
        Self.noteOccurrence()
        self.operation = "\(operation)"
        self.stack = Self.drainQueue()
    }

    private static let counter = Atomic<Int>(0)

    /// The number of errors that have occurred in this process. If this number grew during a computation, the result of the
    /// computation may be due to a lack of memory.
    package static var occurrences: Int { counter.load(ordering: .relaxed) }

    /// Adds one to `occurrences`, for a stored error that is thrown again.
    package static func noteOccurrence() { counter.add(1, ordering: .relaxed) }

    /// Empties this thread's error queue.
    ///
    /// - Returns: whether it had a fatal error, such as a lack of memory, so that a failed check says nothing about what was
    ///   checked. Such an error is counted in `occurrences`.
    ///
    /// libcrypto: `ERR_FATAL_ERROR`
    static func takeFatal() -> Bool {
        var isFatal = false
        while case let code = ERR_get_error(), code != 0 { isFatal = isFatal || ERR_FATAL_ERROR(code) != 0 }
        if isFatal { noteOccurrence() }
        return isFatal
    }

    private static func drainQueue() -> [Entry] {
        var entries: [Entry] = []
        var data: UnsafePointer<CChar>?
        var flags: CInt = 0
        while case let code = ERR_get_error_all(nil, nil, nil, &data, &flags), code != 0 {
            entries.append(
                Entry(
                    code: UInt(code),
                    library: String(orEmpty: ERR_lib_error_string(code)),
                    reason: String(orEmpty: ERR_reason_error_string(code)),
                    detail: flags & ERR_TXT_STRING != 0 ? String(orEmpty: data) : nil
                )
            )
        }
        return entries
    }
}

extension OpenSSLError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// The function that failed and the reasons in libcrypto's words, root cause first; without details.
    package var description: String {
        let reasons = stack.map(\.reason).filter { !$0.isEmpty }
        return reasons.isEmpty ? "\(operation) failed" : "\(operation): \(reasons.joined(separator: "; "))"
    }
}

/// Throws unless `result` says that a libcrypto call succeeded.
///
/// libcrypto reports failure as 0 and sometimes as a negative number, so only a positive number means success.
package func check(_ result: CInt, _ operation: StaticString) throws(OpenSSLError) {
    guard result > 0 else { throw OpenSSLError(operation) }
}

extension String {
    fileprivate init(orEmpty cString: UnsafePointer<CChar>?) {
        self = cString.map(String.init(cString:)) ?? ""
    }
}
