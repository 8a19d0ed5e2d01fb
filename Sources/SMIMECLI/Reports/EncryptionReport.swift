import CMSSyntax
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent

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
    /// The known capabilities of a recipient, and the cipher that was chosen.
    struct Choice: Encodable, Sendable {
        let name: String
        /// Absent if a secret is used instead of a certificate.
        let fingerprint: Fingerprint?
        /// The announced ciphers that are considered; empty if none are known.
        let announces: [String]
        /// How the content's key is encrypted for the recipient: `oaep` and others, `ecdh`, `x25519`, `ml-kem-768`,
        /// `password`, `key-encryption-key`.
        let keyEncryption: String
    }

    let file: String
    let recipients: [String]
    let cipher: String
    /// Why this cipher was chosen: announced by the recipient, demanded by the user, the default, or a rule for the account
    /// or a recipient.
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
        let keepers = [secret].compactMap(\.self).map { secret in
            let kind = secret.recipientKind
            let name = kind == .password ? "anyone who knows the password" : "anyone who has the secret key"
            return Choice(name: name, fingerprint: nil, announces: [], keyEncryption: kind.rawValue)
        }
        choices = readers + keepers
    }
}
