import ByteStreams
import Foundation
package import InternetMessage
public import SMIME

/// Why a gateway does not pass a message on.
package enum GatewayError: Error, Equatable, Sendable {
    /// The message has passed this filter too often.
    case loop(passes: Int)
    /// Incoming mail from an account of this store is not encrypted, but must be encrypted for `recipients`.
    case mustBeEncrypted(sender: EmailAddress, recipients: [String])
    /// Incoming mail from an account of this store must be encrypted for `recipients`, and the gateway crashed before
    /// it knew whether the mail is encrypted.
    case mayBeUnencrypted(sender: EmailAddress, recipients: [String])
    /// The message is returned to its sender: the requirements in `unmetRequirements` cannot be met.
    case refused(unmetRequirements: [String])
    /// The message is deferred: the requirements in `unmetRequirements` cannot be met now.
    case deferred(unmetRequirements: [String])
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
        case .mayBeUnencrypted(let sender, let recipients):
            "mail from \(sender) to \(recipients.joined(separator: ", ")) must be encrypted, "
                + "and the gateway crashed while handling this message, before it knew whether the message is encrypted"
        case .refused(let unmetRequirements):
            unmetRequirements.joined(separator: ", ") + ": required, so the mail is sent to none of its recipients"
        case .deferred(let unmetRequirements): unmetRequirements.joined(separator: ", ")
        }
    }
}

extension SMIMEError.Code {
    /// A requirement cannot be met now, but perhaps later: 450 4.7.1.
    public static let deferred = Self("deferred", .temporary)
    /// This host has changed the message too often: 554 5.4.6.
    public static let loop = Self("loop", .input)
    /// Unencrypted mail from an account of the store to a recipient for whom it must be encrypted: 554 5.7.1.
    public static let mustBeEncrypted = Self("mustBeEncrypted", .input)
    /// A requirement cannot be met. The sentence is for the sender: 550 5.7.1.
    public static let refused = Self("refused", .recipient)
    /// The mail server did not accept a message.
    public static let transport = Self("transport", .temporary)
}

extension GatewayError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .loop: .loop
        case .mayBeUnencrypted, .mustBeEncrypted: .mustBeEncrypted
        case .refused: .refused
        case .deferred: .deferred
        }
    }
}

extension TransportError: CodedError {
    package var code: SMIMEError.Code { .transport }
}
