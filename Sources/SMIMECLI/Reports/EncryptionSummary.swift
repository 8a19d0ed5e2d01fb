import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent

/// Information about an encrypted message for the person at the terminal: who signed the message, who can read it, and which
/// header fields remain readable for others.
struct EncryptionSummary {
    let lines: [String]

    /// - Parameters:
    ///   - signer: the certificate of the signature inside; nil if there is none.
    ///   - confidentiality: which header fields the message hides; nil if the message has no header.
    init(
        _ copy: RecipientPlan.Copy,
        _ secret: SharedSecret?,
        signedBy signer: Certificate?,
        hiding confidentiality: HeaderConfidentiality?
    ) {
        let readers = copy.negotiation.verdicts.map { verdict in
            "\(verdict.name) (certificate until \(verdict.certificate.notAfter.day))"
        }
        let keeper = secret.map {
            $0.recipientKind == .password ? "anyone who knows the password" : "anyone who has the secret key"
        }
        lines = [
            signer.map { "signed with the certificate of \($0.addresses.first ?? $0.fingerprint.description)" },
            "encrypted for \((readers + [keeper].compactMap(\.self)).joined(separator: ", "))",
            "cipher \(copy.negotiation.cipher.name): \(copy.negotiation.reason.words)",
            confidentiality.map { "not encrypted: \($0.readable)" },
        ].compactMap(\.self)
    }
}

extension CipherNegotiation.Reason {
    /// The reason as a text.
    fileprivate var words: String {
        switch self {
        case .account: "by the rule for the sender"
        case .announced: "all recipients announced that they can read it"
        case .demanded: "as you asked"
        case .recipient: "by the rule for a recipient"
        case .standard: "the default, as not all recipients announced what they can read"
        }
    }
}

extension HeaderConfidentiality {
    /// The header fields that mail servers can read in an encrypted message.
    fileprivate var readable: String {
        switch self {
        case .baseline: "From, To, Cc and Date; the subject is hidden"
        case .none: "the header with the subject (--header-confidentiality baseline hides the subject)"
        case .shy: "the addresses in From, To and Cc, and Date; the subject and the names are hidden"
        }
    }
}
