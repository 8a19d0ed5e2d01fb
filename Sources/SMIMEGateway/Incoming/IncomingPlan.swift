package import ByteStreams
import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore

/// The plan for an incoming message: the verdict, and the messages to deliver.
package struct IncomingPlan: Sendable {
    /// One of the messages to deliver, with its recipients.
    package struct Message: Sendable {
        /// The envelope's recipients, as the mail server wrote them.
        package internal(set) var recipients: [String]
        /// The message with the verdict in its header.
        package let source: any ByteSource
        /// The verdict on the message. If it was decrypted for these recipients, the verdict on the decrypted content.
        package let report: VerificationReport
        /// Whether the message is delivered decrypted. Then its envelope sender must be `Store.decryptedSender()`: the
        /// sender of the ciphertext must not get the decrypted text in a bounce.
        package var isDecrypted: Bool { decryption != nil }
        /// How the message was decrypted; nil if it was not decrypted.
        package let decryption: Decryption?
    }

    /// How a message was decrypted at this gateway.
    package struct Decryption: Equatable, Sendable {
        /// The cipher of the outermost encrypted layer.
        package let cipher: String
        /// The certificate whose private key decrypted the message.
        package let certificate: Fingerprint
        /// The rule that permitted decryption.
        package let rule: Policy.Scope
        /// The keys that were tried.
        let keys: GatewayKeys.Use
    }

    /// The messages to deliver: one for all recipients whose mail was not decrypted, and one for each group of
    /// recipients for whom the same rule decrypts it with the same keys.
    package internal(set) var messages: [Message] = []
    /// The verdict on the message as received.
    package let report: VerificationReport
    /// The verdict on the decrypted content of the first message that was decrypted, otherwise on the message as received.
    package var deepestReport: VerificationReport { messages.first(where: \.isDecrypted)?.report ?? report }
    /// The verified message, as received or decrypted, from which the store may learn; nil if there is none.
    package internal(set) var learnable: VerifiedMessage?

    /// Adds the recipient of a decrypted message. Recipients with the same keys and the same rule get one message.
    mutating func add(_ message: DecryptedMail.Content, for keys: GatewayKeys.Recipient) {
        let decryption = Decryption(
            cipher: message.cipher,
            certificate: message.certificate,
            rule: keys.rule,
            keys: keys.use
        )
        if let place = messages.firstIndex(where: { $0.decryption == decryption }) {
            return messages[place].recipients.append(keys.recipient)
        }
        messages.append(
            Message(
                recipients: [keys.recipient],
                source: message.source,
                report: message.report,
                decryption: decryption
            )
        )
    }

    init(report: VerificationReport, learnable: VerifiedMessage?) {
        self.report = report
        self.learnable = learnable
    }
}

/// A message that was opened at the gateway, with the key that opened it.
struct OpenedMail {
    let message: OpenedMessage
    let certificate: Certificate
    /// Whether the key belongs to the account of the whole domain.
    let isForDomain: Bool
}

/// The result of decryption with the keys of some recipients: a message to deliver, or the reason why it stays encrypted.
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
    /// The recipients in To and Cc inside the encryption, one of whom must be the recipient. Nil if the message may be
    /// delivered to any recipient.
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
        case .noKey: recipient.reasonForNoKey
        case .fault(let reason): reason
        case nil:
            named?.isDisjoint(with: recipient.addresses) == true
                ? "To and Cc inside the encryption name other recipients" : nil
        }
    }
}

/// Converts a decrypted message to a form that mail servers accept: encrypted content may consist of any bytes (RFC 8551
/// §3.1), but mail has lines of at most 998 bytes, no NUL, and no single carriage returns or line feeds.
///
/// RFC 5322 §2.1.1, §2.3
enum TransportForm {
    /// The error if a message has no such form.
    struct Unsafe: Error {}

    /// The message in `source`, unchanged if mail servers accept it, otherwise with its parts encoded; nil if neither
    /// is possible. Lines that all end in a bare line feed are accepted, because they are converted when the message is
    /// sent.
    ///
    /// - Parameter isSigned: whether the message is inside a signature, which encoding would make invalid.
    /// - Throws: `MIMEError`; what reading and writing throw.
    static func of(_ source: any ByteSource, isSigned: Bool) throws -> (any ByteSource)? {
        let statistics = try LineStatistics(of: source.reader())
        let isMixed = statistics.crlf > 0 && statistics.bareLF > 0
        guard statistics.hasNUL || statistics.bareCR > 0 || isMixed || statistics.longestLine > 998 else {
            return source
        }
        guard !isSigned else { return nil }
        let message = try MIMEReader.message(in: source)
        let form = try SevenBitEncoding(of: message, in: source)
        guard form.unsafeParts.isEmpty, form.unsafeMessages.isEmpty else { return nil }
        return try Spool.source { try form.write(to: $0) }
    }
}
