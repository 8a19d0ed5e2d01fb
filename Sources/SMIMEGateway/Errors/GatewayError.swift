import ByteStreams
import Foundation
package import InternetMessage

/// Why a gateway does not pass a message on.
package enum GatewayError: Error, Equatable, Sendable {
    /// The message went through this filter too often.
    case loop(passes: Int)
    /// It comes in from an account of ours in clear, and must go to `recipients` encrypted.
    case mustBeEncrypted(sender: EmailAddress, recipients: [EmailAddress])
    /// It could not be read, comes from an account of ours, and must go to `recipients` encrypted.
    case mayBeClear(sender: EmailAddress, recipients: [EmailAddress])
    /// It goes back to its sender: a requirement cannot be met, as each of `obstacles` says.
    case refused(obstacles: [String])
    /// It waits: a requirement cannot be met now, as each of `obstacles` says.
    case waiting(obstacles: [String])
}

extension GatewayError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .loop(let passes): "mail loop: changed here \(passes) times already"
        case .mustBeEncrypted(let sender, let recipients):
            "mail from \(sender) to \(recipients.map(\.text).joined(separator: ", ")) must be encrypted, and is not: "
                + "send it through the mail server's port for outgoing mail"
        case .mayBeClear(let sender, let recipients):
            "mail from \(sender) to \(recipients.map(\.text).joined(separator: ", ")) must be encrypted, and the gateway died at this "
                + "message before it knew whether it is"
        case .refused(let obstacles), .waiting(let obstacles): obstacles.joined(separator: ", ")
        }
    }
}
