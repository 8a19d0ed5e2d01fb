package import Foundation

/// Why a revocation service gave no usable answer.
package enum RevocationError: Error, Hashable, Sendable {
    /// The answer is unusable; the payload says why.
    case badAnswer(String)
    case cancelled
    /// This host lacks memory or file descriptors for the question; the payload says what is missing.
    case hostFailure(String)
    /// The host name has no address, or no host accepts a connection; the payload says why.
    case notReached(String)
    /// The service was not asked, because the fetcher has asked its maximum number of questions. No other service
    /// is asked either.
    case questionLimit
    /// The service is in a private network and must not be contacted.
    case privateAddress
    /// The service was not asked, because it did not answer at the given time, which is recent.
    case silent(since: Date)
    /// The service did not answer in time.
    case timeLimit
    /// The URL is not an allowed http URL, so the service was not asked.
    case unsupportedURL
    /// The service was not asked because other services had used up the time limit of the verdict.
    case verdictTimeLimit

    /// Whether further requests to the service would probably also end without an answer.
    var isSilence: Bool {
        switch self {
        case .notReached, .timeLimit: true
        case .badAnswer, .cancelled, .hostFailure, .privateAddress, .questionLimit, .silent, .unsupportedURL,
            .verdictTimeLimit:
            false
        }
    }
}

extension RevocationError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// A description that is printed after the service's URL; in lower case and without a full stop.
    package var description: String {
        switch self {
        case .badAnswer(let why): "its answer cannot be used: \(why)"
        case .cancelled: "cancelled"
        case .hostFailure(let why): "cannot be asked: \(why)"
        case .notReached(let why): "cannot be reached: \(why)"
        case .privateAddress: "not asked, as it is in a private network (setting revocation.private-addresses)"
        case .questionLimit: "not asked, as too many questions were asked before"
        case .silent(let since): "not asked again yet, as it gave no answer at \(since.formatted(.iso8601))"
        case .timeLimit: "no answer in time"
        case .unsupportedURL: "is not an http URL"
        case .verdictTimeLimit: "not asked, as other services took too long"
        }
    }
}
