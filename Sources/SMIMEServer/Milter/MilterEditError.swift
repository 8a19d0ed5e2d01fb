import Foundation

/// The reason that a verdict cannot be carried out. The session then waits for another verdict.
package enum MilterEditError: Error, Hashable, Sendable {
    /// The mail server does not allow an action that the change needs.
    case actionNotOffered(MilterActions)
    /// A changed field is longer than a packet may be, 65,535 bytes.
    case fieldTooLong(name: String)
    /// The old header is larger than `MilterLimits.header`, so it was not kept.
    case headerTooLarge
    /// The new header contains a line that is not a field, or a zero byte, which would end a string in this protocol.
    case malformedHeader
    /// More than `MilterSession.maximumEdits` fields must be changed. Postfix searches its queue file for each, and fails at
    /// some thousand.
    case tooManyEdits
    /// A recipient to be removed does not exist.
    case noSuchRecipient
    /// No message waits for a verdict.
    case notWaiting
}

extension MilterEditError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .actionNotOffered(let actions):
            "the mail server does not let its milter do what is needed (\(actions.rawValue))"
        case .fieldTooLong(let name): "the header field \(name) is too long for a milter"
        case .headerTooLarge: "the header is too large to be changed by a milter"
        case .malformedHeader: "the new header cannot be sent to the mail server"
        case .noSuchRecipient: "no such recipient"
        case .tooManyEdits: "the message has too many fields that must be changed"
        case .notWaiting: "no message waits for a verdict"
        }
    }
}
