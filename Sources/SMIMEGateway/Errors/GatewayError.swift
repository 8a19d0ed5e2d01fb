import ByteStreams
import Foundation
package import InternetMessage

/// Why a gateway does not pass a message on.
package enum GatewayError: Error, Equatable, Sendable {
    /// The message has passed this filter too often.
    case loop(passes: Int)
    /// Incoming mail from an account of this store is not encrypted, but must be encrypted for `recipients`.
    case mustBeEncrypted(sender: EmailAddress, recipients: [String])
    /// Incoming mail from an account of this store could not be read, and must be encrypted for `recipients`.
    case mayBeClear(sender: EmailAddress, recipients: [String])
    /// The message is returned to its sender: the requirements in `unmetRequirements` cannot be met.
    case refused(unmetRequirements: [String])
    /// The message is deferred: the requirements in `unmetRequirements` cannot be met now.
    case waiting(unmetRequirements: [String])
}

extension GatewayError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .loop(let passes): "mail loop: changed here \(passes) times already"
        case .mustBeEncrypted(let sender, let recipients):
            "mail from \(sender) to \(recipients.joined(separator: ", ")) must be encrypted, and is not: "
                + "send it through the mail server's port for outgoing mail"
        case .mayBeClear(let sender, let recipients):
            "mail from \(sender) to \(recipients.joined(separator: ", ")) must be encrypted, "
                + "and the gateway crashed while handling this message, before it knew whether the message is encrypted"
        case .refused(let unmetRequirements):
            unmetRequirements.joined(separator: ", ") + ": required, so the mail is sent to none of its recipients"
        case .waiting(let unmetRequirements): unmetRequirements.joined(separator: ", ")
        }
    }
}
