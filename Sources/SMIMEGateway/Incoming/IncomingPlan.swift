package import ByteStreams
package import PKIX
package import SMIME
package import SMIMEStore

/// The plan for an incoming message: the verdict, and the messages to deliver.
package struct IncomingPlan: Sendable {
    /// One of the messages, and who gets it.
    package struct Message: Sendable {
        /// The envelope's recipients, as the mail server wrote them.
        package let recipients: [String]
        /// The message with the verdict in its header.
        package let source: any ByteSource
        /// The verdict on it; on what was inside, if it was decrypted for these recipients.
        package let report: VerificationReport
        /// Whether the message continues in clear. Then its envelope sender must be `Store.decryptedSender()`: a bounce
        /// must not go back in clear to the sender of the ciphertext.
        package var isDecrypted: Bool { decryption != nil }
        /// How it was decrypted; nil if it was not.
        package let decryption: Decryption?
    }

    /// How a message was decrypted here.
    package struct Decryption: Sendable {
        /// The cipher of the outermost encryption.
        package let cipher: String
        /// The certificate whose key opened it.
        package let certificate: Fingerprint
        /// The rule by which it was decrypted.
        package let rule: Policy.Scope
    }

    /// The messages to deliver: one for all recipients, but separate ones for recipients whose mail was decrypted.
    package internal(set) var messages: [Message] = []
    /// The verdict on the message as it came.
    package let report: VerificationReport
    /// The verdict on the decrypted content if a message was decrypted, else on the message as it came.
    package var deepestReport: VerificationReport { messages.first(where: \.isDecrypted)?.report ?? report }
    /// What may be learned from the message as it came or after decryption; nil for nothing.
    package internal(set) var learnable: VerifiedMessage?

    init(report: VerificationReport, learnable: VerifiedMessage?) {
        self.report = report
        self.learnable = learnable
    }
}
