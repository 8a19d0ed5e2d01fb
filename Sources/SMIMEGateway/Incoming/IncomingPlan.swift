package import ByteStreams
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

    /// The messages to deliver: one for all recipients whose mail was not decrypted, and one for all recipients for whom the
    /// same rule decrypts it with the same keys.
    package internal(set) var messages: [Message] = []
    /// The verdict on the message as received.
    package let report: VerificationReport
    /// The verdict on the decrypted content if a message was decrypted, otherwise on the message as received.
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
