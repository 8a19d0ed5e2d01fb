import Foundation
import InternetMessage
package import SMIME

/// Why a mail is not passed on, and what its sender is told.
package struct GatewayRefusal: Error, Sendable {
    /// What must change before the mail can be passed on. It determines the mail server's reply.
    package enum Fault: Equatable, Sendable {
        /// The message: it goes back to its sender.
        case message
        /// Something about a recipient or the sender: the message goes back to its sender.
        case recipient
        /// Something that may be different at the next attempt.
        case temporary
    }

    package let fault: Fault
    /// RFC 3463
    package let enhancedCode: String
    /// One sentence with all that is known, for the log; it may name files of this machine.
    package let explanation: String
    /// Whether the log names the code, too.
    private let isCodeLogged: Bool
    /// The error below; nil if there is none.
    package let cause: (any Error)?
    /// What an administrator could do about it; nothing for the sender.
    package var hints: [String] = []
    /// The sentence of the setting `filter.bounce-text` for people to whom the mail goes back; nil for a temporary fault.
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

    /// Whether the mail goes back to its sender.
    package var isPermanent: Bool { fault != .temporary }
    /// RFC 5321 §4.2.3
    package var replyCode: Int {
        switch fault {
        case .message: 554
        case .recipient: 550
        // RFC 5248 has 4.7.1 with 450.
        case .temporary: enhancedCode == "4.7.1" ? 450 : 451
        }
    }

    /// The sentence for the sender: `explanation` without folders of this machine.
    package var sentence: String { Self.withoutFolders(explanation) }
    /// What the log says.
    package var logText: String { isCodeLogged ? "\(enhancedCode) \(explanation)" : explanation }

    /// `text` with the last components alone of absolute paths.
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
    /// The refusal of an empty message, which would be empty at the next attempt, too.
    package static func emptyMessage(_ name: String = "message: malformed") -> Self {
        Self(.message, "5.6.0", explanation: "\(name): the input is empty", isCodeLogged: false)
    }

    /// The permanent refusal of a mail for `recipients`, which are no addresses.
    package static func malformedRecipients(_ recipients: [String]) -> Self {
        Self(.recipient, "5.1.3", explanation: "not an address: \(list(recipients))")
    }

    static func malformedSender(_ sender: EnvelopeSender) -> Self {
        Self(.recipient, "5.1.7", explanation: "not an address: \(list([sender.text]))")
    }

    /// Addresses as a bounce names them, on one line whatever is in them.
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
