import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// A report on the cipher and the recipients of each encrypted file.
struct EncryptionReport: Encodable {
    /// The cipher of the first file; absent if no file was written.
    let cipher: String?
    let files: [EncryptedFile]
    /// The inputs that failed.
    let failed: [FailedFile]

    init(_ files: [EncryptedFile], failed: [FailedFile]) {
        cipher = files.first?.cipher
        self.files = files
        self.failed = failed
    }
}

/// One file that was written.
struct EncryptedFile: Encodable, Sendable {
    /// A recipient of the file: the ciphers that it is known to announce, and how the content-encryption key is encrypted.
    struct Choice: Encodable, Sendable {
        let name: String
        /// Absent if a secret is used instead of a certificate.
        let fingerprint: Fingerprint?
        /// The announced ciphers that are considered; empty if none are known.
        let announces: [String]
        /// How the content-encryption key is encrypted for the recipient: `oaep` and others, `ecdh`, `x25519`,
        /// `ml-kem-768`, `password`, `key-encryption-key`.
        let keyEncryption: String
    }

    let file: String
    let recipients: [String]
    let cipher: String
    /// Why this cipher was chosen: announced by the recipients, demanded by the user, the default, or an exception in
    /// the setting `encryption.unknown` for the sender or a recipient.
    let reason: String
    let choices: [Choice]

    init(_ file: String, _ copy: RecipientPlan.Copy, secret: SharedSecret?) {
        self.file = file
        recipients = copy.addresses.map(\.text)
        cipher = copy.negotiation.cipher.name
        reason = copy.negotiation.reason.rawValue
        let readers = copy.negotiation.verdicts.map { verdict in
            Choice(
                name: verdict.name,
                fingerprint: verdict.certificate.fingerprint,
                announces: verdict.ciphers.map(\.name),
                keyEncryption: verdict.recipient.keyEncryption
            )
        }
        let secretHolders = [secret].compactMap(\.self).map { secret in
            let kind = secret.recipientKind
            let name = kind == .password ? "anyone who knows the password" : "anyone who has the secret key"
            return Choice(name: name, fingerprint: nil, announces: [], keyEncryption: kind.rawValue)
        }
        choices = readers + secretHolders
    }
}

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
        let secretHolder = secret.map {
            $0.recipientKind == .password ? "anyone who knows the password" : "anyone who has the secret key"
        }
        lines = [
            signer.map { "signed with the certificate of \($0.addresses.first ?? $0.fingerprint.description)" },
            "encrypted for \((readers + [secretHolder].compactMap(\.self)).joined(separator: ", "))",
            "cipher \(copy.negotiation.cipher.name): \(copy.negotiation.reason.words)",
            confidentiality.map { "not encrypted: \($0.readable)" },
        ].compactMap(\.self)
    }
}

extension CipherNegotiation.Reason {
    /// The reason as a text.
    fileprivate var words: String {
        switch self {
        case .account: "by the exception for the sender in encryption.unknown"
        case .announced: "all recipients announced that they can read it"
        case .demanded: "as you asked"
        case .recipient: "by the exception for a recipient in encryption.unknown"
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
