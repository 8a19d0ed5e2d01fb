import COpenSSL
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A failed libcrypto call and all entries of libcrypto's error queue.
package struct OpenSSLError: Error, Equatable, Sendable {
    /// One entry of libcrypto's error queue.
    package struct Entry: Equatable, Sendable {
        /// The packed error code; `openssl errstr` explains it, given in hexadecimal.
        package let code: UInt
        /// The part of libcrypto that reported the error; empty if it has no name.
        package let library: String
        /// The reason in libcrypto's words; empty if it has none.
        package let reason: String
        /// Detail that libcrypto attached, such as a file name. Never a secret.
        package let detail: String?
    }

    /// The libcrypto function that failed, as in `EVP_DigestSign`.
    package let operation: String
    /// The error queue, root cause first.
    package let stack: [Entry]

    /// Drains this thread's error queue.
    ///
    /// The queue belongs to the thread: call this before any `await`.
    package init(_ operation: StaticString) {
        Self.noteOccurrence()
        self.operation = "\(operation)"
        self.stack = Self.drainQueue()
    }

    private static let counter = Atomic<Int>(0)

    /// How many errors have occurred in this process. A result computed while this number grew may be due to a lack of
    /// memory.
    package static var occurrences: Int { counter.load(ordering: .relaxed) }

    /// Counts an error that is thrown a second time.
    package static func noteOccurrence() { counter.add(1, ordering: .relaxed) }

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

/// Throws unless a libcrypto call reported success.
///
/// libcrypto reports failure as 0 and sometimes as a negative number, so only a positive result counts.
package func check(_ result: CInt, _ operation: StaticString) throws(OpenSSLError) {
    guard result > 0 else { throw OpenSSLError(operation) }
}

extension String {
    fileprivate init(orEmpty cString: UnsafePointer<CChar>?) {
        self = cString.map(String.init(cString:)) ?? ""
    }
}
