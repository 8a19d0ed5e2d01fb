import ByteStreams
import InternetMessage
import PKIX
import SMIME

/// A message that was opened at the gateway, with the key that opened it.
struct OpenedMail {
    let message: OpenedMessage
    let certificate: Certificate
    /// Whether the key belongs to the account of the whole domain.
    let isForDomain: Bool
}

/// What decryption with the keys of some recipients resulted in: a message to deliver, or the reason why it stays encrypted.
struct DecryptedMail {
    /// Why a message stays encrypted.
    enum Obstacle: Error {
        /// No RecipientInfo matches any of the keys.
        case noKey
        case fault(String)
    }

    /// The verdict on a message, and the message as evidence from which the store may learn; nil if it may not.
    typealias Verdict = (report: VerificationReport, learnable: VerifiedMessage?)

    /// The decrypted message in the form in which it is delivered.
    struct Content {
        let source: any ByteSource
        let report: VerificationReport
        let cipher: String
        let certificate: Fingerprint
        let learnable: VerifiedMessage?
    }

    let message: Content?
    private let obstacle: Obstacle?
    /// The recipients in To and Cc inside the encryption, one of whom must be the recipient. Nil if they are not restricted.
    private let named: Set<EmailAddress>?

    init(_ obstacle: Obstacle) { (message, self.obstacle, named) = (nil, obstacle, nil) }

    init(_ opened: OpenedMail, cipher: String, in source: any ByteSource, _ verdict: Verdict) {
        message = Content(
            source: source,
            report: verdict.report,
            cipher: cipher,
            certificate: opened.certificate.fingerprint,
            learnable: verdict.learnable
        )
        obstacle = nil
        named = opened.isForDomain ? opened.message.protectedRecipients : nil
    }

    /// Why the message stays encrypted for a recipient; nil if it is delivered decrypted.
    func obstacle(for recipient: GatewayKeys.Recipient) -> String? {
        switch obstacle {
        case .noKey: recipient.whyNone
        case .fault(let reason): reason
        case nil:
            named?.isDisjoint(with: recipient.addresses) == true
                ? "inside the encryption To and Cc name other recipients" : nil
        }
    }
}
