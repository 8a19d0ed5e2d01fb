import ByteStreams
import Foundation
import InternetMessage
import PKIX
package import SMIME
import SMIMEAgent
import SMIMEStore

/// Why a mail is not passed on, and the texts for its sender and the log.
package struct GatewayRefusal: Error, Sendable {
    /// Where the cause lies. This determines the mail server's reply.
    package enum Fault: Equatable, Sendable {
        /// The cause is the message: it is returned to its sender.
        case message
        /// The cause is a recipient or the sender: the message is returned to its sender.
        case recipient
        /// The next attempt may succeed: the message is deferred.
        case temporary
    }

    package let fault: Fault
    /// The enhanced status code of RFC 3463.
    package let enhancedCode: String
    /// One sentence with all details, for the log. It may contain file names of this host.
    package let explanation: String
    /// Whether the log also contains the code.
    private let isCodeLogged: Bool
    /// The underlying error; nil if there is none.
    package let cause: (any Error)?
    /// Hints for an administrator. The sender does not see them.
    package var hints: [String] = []
    /// The sentence in the setting `filter.bounce-text` for people to whom the mail is returned; nil for a temporary fault.
    package var bounceText: String?

    package init(
        _ fault: Fault,
        _ enhancedCode: String,
        explanation: String,
        isCodeLogged: Bool = true,
        cause: (any Error)? = nil,
        hints: [String] = []
    ) {
        self.fault = fault
        self.enhancedCode = enhancedCode
        self.explanation = explanation
        self.isCodeLogged = isCodeLogged
        self.cause = cause
        self.hints = hints
    }

    /// Whether the mail is returned to its sender.
    package var isPermanent: Bool { fault != .temporary }
    /// The reply code of RFC 5321 §4.2.3.
    package var replyCode: Int {
        switch fault {
        case .message: 554
        case .recipient: 550
        // Mail servers use 450 with 4.7.1 when they defer mail by policy.
        case .temporary: enhancedCode == "4.7.1" ? 450 : 451
        }
    }

    /// The sentence for the sender: `explanation` without directories of this host, or a general sentence if it contains the
    /// address of the store's database server.
    package var sentence: String {
        explanation.contains("postgresql://") ? "the gateway cannot work now" : Self.withoutFolders(explanation)
    }
    /// The text for the log.
    package var logText: String { isCodeLogged ? "\(enhancedCode) \(explanation)" : explanation }

    /// `text` in which absolute paths are reduced to their last component.
    package static func withoutFolders(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word -> Substring in
            let start = word.firstIndex { !"'\"`(".contains($0) } ?? word.endIndex
            guard word[start...].hasPrefix("/"), !word.contains("@"),
                let slash = word.lastIndex(where: { $0 == "/" }), word.index(after: slash) < word.endIndex
            else { return word }
            return word[..<start] + word[word.index(after: slash)...]
        }.joined(separator: " ")
    }
}

extension GatewayRefusal: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { explanation }
}

extension GatewayRefusal {
    /// The refusal of an empty message. It is permanent because the next attempt would get the same message.
    package static func emptyMessage(_ name: String = "message: malformed") -> Self {
        Self(.message, "5.6.0", explanation: "\(name): the input is empty", isCodeLogged: false)
    }

    /// The permanent refusal of a mail because `recipients` are not addresses.
    package static func malformedRecipients(_ recipients: [String]) -> Self {
        Self(.recipient, "5.1.3", explanation: "not an address: \(list(recipients))")
    }

    static func malformedSender(_ sender: EnvelopeSender) -> Self {
        Self(.recipient, "5.1.7", explanation: "not an address: \(list([sender.text]))")
    }

    /// The addresses as listed in a bounce, escaped so that the list stays on one line.
    private static func list(_ addresses: [String]) -> String {
        addresses.map { $0.isEmpty ? "''" : $0.escapedForDisplay }.joined(separator: ", ")
    }
}

extension GatewayRefusal: CodedError {
    package var code: SMIMEError.Code {
        if let cause { return SMIMEError(cause).code }
        switch fault {
        case .message: return .malformed
        case .recipient: return .refused
        case .temporary: return .deferred
        }
    }
}

extension GatewayRefusal {
    /// The refusal for `error`, which occurred while mail in `role` was handled.
    ///
    /// Each `GatewayError` has its own reply. Apart from these, outgoing mail with a fault is returned to its sender.
    /// Incoming mail is delivered with its faults; it is returned only if it exceeds a limit, and deferred after any other
    /// error. In either role, mail is deferred after a fault of the host or the store, which an administrator can repair.
    package init(_ error: any Error, in role: GatewayRole) {
        switch error {
        case let refusal as GatewayRefusal: self = refusal
        case let error as GatewayError: self.init(gateway: error)
        default:
            let kind = Self.kind(of: error)
            let (fault, enhancedCode): (Fault, String) =
                switch kind {
                case .input where Self.isMessageFault(error, in: role): (.message, "5.6.0")
                case .recipient where Self.isMessageFault(error, in: role): (.recipient, "5.7.1")
                case .configuration, .key: (.temporary, "4.3.5")
                default: (.temporary, "4.3.0")
                }
            self.init(
                fault,
                enhancedCode,
                explanation: Self.text(of: error, in: "message"),
                isCodeLogged: false,
                cause: error
            )
        }
    }

    /// The refusal of a mail that the next hop did not accept, or that could not be recorded.
    package init(undelivered error: any Error) {
        self.init(
            .temporary,
            "4.3.0",
            explanation: "cannot send: \(Self.text(of: error, in: nil))",
            isCodeLogged: false,
            cause: error
        )
    }

    private init(gateway error: GatewayError) {
        let (fault, enhancedCode): (Fault, String) =
            switch error {
            // RFC 3463 §3.5: routing loop detected.
            case .loop: (.message, "5.4.6")
            case .mayBeUnencrypted, .mustBeEncrypted: (.message, "5.7.1")
            case .refused: (.recipient, "5.7.1")
            case .deferred: (.temporary, "4.7.1")
            }
        self.init(fault, enhancedCode, explanation: "\(error)", cause: error)
    }

    private static func kind(of error: any Error) -> SMIMEError.Kind {
        // The certificate of the sender is at fault, and the sender can replace it.
        if case MessageError.unusableSigner = error { return .recipient }
        return SMIMEError(error).kind
    }

    /// Whether the cause is the message itself, so that the next attempt would fail as well.
    private static func isMessageFault(_ error: any Error, in role: GatewayRole) -> Bool {
        switch (role, error) {
        case (.outgoing, is MIMEError), (.outgoing, is MessageError), (.outgoing, StreamError.malformedBase64): true
        // The header exceeds a limit, so that forged verdicts and senders cannot be found in all of it.
        case (.incoming, MIMEError.limitExceeded): true
        default: false
        }
    }

    /// One sentence about the error, which begins with `subject` unless it names a file itself.
    private static func text(of error: any Error, in subject: String?) -> String {
        switch error {
        case is CancellationError, StreamError.cancelled: return "interrupted"
        case MIMEError.unreadable(let cause): return text(of: cause, in: subject)
        case MessageError.cipherBelowFloor(let cipher, let floor):
            return sentence(
                "\(cipher.name) is below \(Setting.encryptionFloor.rawValue), which is \(floor.name)",
                on: subject
            )
        case StreamError.cannotCreate, StreamError.cannotOpen, StreamError.alreadyCommitted, StreamError.notRegular,
            StreamError.spoolFailed, is AgentError, is GatewayRefusal, is KeystoreError, is SettingError,
            is TransportError:
            return "\(error)"
        default: return sentence("\(error)", on: subject)
        }
    }

    private static func sentence(_ text: String, on subject: String?) -> String {
        subject.map { "\($0): \(text)" } ?? text
    }
}
