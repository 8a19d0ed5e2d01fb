import ByteStreams
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension GatewayRefusal {
    /// The refusal for `error`, which occurred while mail in `role` was handled.
    ///
    /// Outgoing mail with a fault is returned to its sender. Incoming mail is delivered with its faults, so an error there
    /// has another cause that can be repaired, and the mail is deferred. A fault of the host or the store can be repaired
    /// in either role.
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
            case .mayBeClear, .mustBeEncrypted: (.message, "5.7.1")
            case .refused: (.recipient, "5.7.1")
            case .waiting: (.temporary, "4.7.1")
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
        // The header is too large for removing forged verdicts, and stays so.
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
        case StreamError.cannotCreate, StreamError.cannotOpen, StreamError.committed, StreamError.notRegular,
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
