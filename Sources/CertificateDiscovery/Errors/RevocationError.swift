package import Foundation

/// Why a service did not answer.
package enum RevocationError: Error, Hashable, Sendable {
    /// It answered with nothing that can be used, for this reason.
    case badAnswer(String)
    case cancelled
    /// The name has no address, or no host accepts a connection, for this reason.
    case notReached(String)
    /// It is no http URL that is asked.
    case notAsked
    /// It lies in a private network, and those are not asked.
    case privateAddress
    /// It did not answer at this time, which is too short a while ago to ask again.
    case silent(since: Date)
    /// It did not answer in time.
    case timeLimit
    /// It was not asked, as other services had delayed the verdict for long enough.
    case verdictTimeLimit

    /// Whether further requests to the service would have to wait, too.
    var isSilence: Bool {
        switch self {
        case .notReached, .timeLimit: true
        case .badAnswer, .cancelled, .notAsked, .privateAddress, .silent, .verdictTimeLimit: false
        }
    }
}

extension RevocationError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// What is the matter with the service, to be said behind its URL; in lower case and without a full stop.
    package var description: String {
        switch self {
        case .badAnswer(let why): "its answer cannot be used: \(why)"
        case .cancelled: "cancelled"
        case .notReached(let why): "cannot be reached: \(why)"
        case .notAsked: "is no http URL"
        case .privateAddress: "not asked, as it is in a private network (setting revocation.private-addresses)"
        case .silent(let since): "not asked again yet, as it gave no answer at \(since.formatted(.iso8601))"
        case .timeLimit: "no answer in time"
        case .verdictTimeLimit: "not asked, as other services took too long"
        }
    }
}
