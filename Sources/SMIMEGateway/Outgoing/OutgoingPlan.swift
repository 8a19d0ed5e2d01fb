package import ByteStreams
import CMSSyntax
import Foundation
package import InternetMessage
package import PKIX
import SMIME
import SMIMEAgent
package import SMIMEStore

/// The plan for an outgoing message: the decision for each recipient, and the messages to send.
package struct OutgoingPlan: Sendable {
    /// One of the messages, and who gets it.
    package struct Message: Sendable {
        /// The envelope's recipients.
        package let recipients: [EmailAddress]
        /// `plain`, `sign`, `encrypt` or `sign+encrypt`.
        package let action: PolicyDecision.Action
        /// The choice of the cipher, where that was made for the plan.
        fileprivate var negotiation: CipherNegotiation?
    }

    /// In the order of the recipients.
    package let decisions: [PolicyDecision]
    /// What to send, but only if `bounces` and `deferrals` are empty: `checkAllGo` makes sure of it. A mail server
    /// knows one outcome for all recipients. If some of them got the mail, the next attempt would send it to them
    /// again, or the sender would get it back without knowing who has it.
    ///
    /// Recipients with the same decision share a message. But a recipient in neither To nor Cc gets a separate
    /// encrypted message, because its RecipientInfos would show the address to the others.
    package let messages: [Message]

    /// Where the certificates of recipients were found that the registry does not have.
    package let sources: [EmailAddress: KnownRecipient.Source]

    private let source: any ByteSource
    private let parties: [EmailAddress: CipherNegotiation.Party]
    private let ciphers: CipherPreferences
    private let senders: [EmailAddress]
    /// The message as it is signed and encrypted, with our mark.
    private let changed: any ByteSource
    private let signer: SignedDataWriter.Signer?
    private let headers: HeaderPolicy
    /// What protects `changed`, if that was made before.
    private let protector: MessageProtector?
    private let time: Date
    /// The fault in the form of a message that must be protected.
    private let formError: (any Error)?

    init(
        source: any ByteSource,
        changed: any ByteSource,
        decisions: [PolicyDecision],
        visible: Set<EmailAddress>,
        parties: [EmailAddress: CipherNegotiation.Party],
        sources: [EmailAddress: KnownRecipient.Source],
        ciphers: CipherPreferences,
        senders: [EmailAddress],
        signer: SignedDataWriter.Signer?,
        headers: HeaderPolicy,
        protector: MessageProtector?,
        time: Date,
        formError: (any Error)?
    ) {
        self.source = source
        self.changed = changed
        self.decisions = decisions
        self.parties = parties
        self.sources = sources
        self.ciphers = ciphers
        self.senders = senders
        self.signer = signer
        self.headers = headers
        self.protector = protector
        self.time = time
        self.formError = formError
        messages = Self.messages(decisions, visible).flatMap { message in
            guard message.action.encrypts else { return [message] }
            // A recipient who cannot read the others' cipher gets a separate message.
            let readers = message.recipients.compactMap { parties[$0] }
            guard let common = try? ciphers.negotiation(for: readers, from: senders, to: message.recipients) else {
                return message.recipients.map { Message(recipients: [$0], action: message.action) }
            }
            var message = message
            if Set(message.recipients).count == readers.count { message.negotiation = common }
            return [message]
        }
    }

    /// The decisions for recipients for whom the message goes back to its sender.
    package var bounces: [PolicyDecision] { decisions.filter { $0.action == .bounce } }
    /// The decisions for those who get nothing yet.
    package var deferrals: [PolicyDecision] { decisions.filter { $0.action == .deferral } }

    /// Makes sure that the message goes to all its recipients as the rules say, or to none.
    ///
    /// - Parameter waitsForServices: whether a certificate may become usable once a service answers; the message waits then instead of
    ///   bouncing.
    /// - Throws: `GatewayError.refused`, `GatewayError.waiting`; `MessageError` or `MIMEError` if only the form of the message
    ///   does not allow what is required.
    package func checkAllGo(waitsForServices: Bool = false) throws {
        func obstacles(_ decisions: [PolicyDecision]) -> [String] {
            var seen: Set<String> = []
            return decisions.flatMap(\.obstacles).filter { seen.insert($0).inserted }
        }
        if let formError, !bounces.isEmpty, bounces.allSatisfy(\.isUnfit) { throw formError }
        if !bounces.isEmpty {
            throw waitsForServices
                ? GatewayError.waiting(obstacles: obstacles(bounces))
                : GatewayError.refused(obstacles: obstacles(bounces))
        }
        if !deferrals.isEmpty { throw GatewayError.waiting(obstacles: obstacles(deferrals)) }
    }

    private static func messages(_ decisions: [PolicyDecision], _ visible: Set<EmailAddress>) -> [Message] {
        var shared: [PolicyDecision.Action: [EmailAddress]] = [:]
        var messages: [Message] = []
        for decision in decisions {
            switch decision.action {
            case .bounce, .deferral: break
            case .encrypt, .signAndEncrypt:
                guard visible.contains(decision.recipient) else {
                    messages.append(Message(recipients: [decision.recipient], action: decision.action))
                    continue
                }
                shared[decision.action, default: []].append(decision.recipient)
            case .plain, .sign: shared[decision.action, default: []].append(decision.recipient)
            }
        }
        let actions = shared.keys.sorted { $0.rawValue < $1.rawValue }
        return actions.map { Message(recipients: shared[$0] ?? [], action: $0) } + messages
    }

    /// Writes `message`, one of `messages`.
    ///
    /// - Throws: what signing, encrypting, reading and writing throw. What was written until then must not be sent.
    package func write(_ message: Message, to sink: any ByteSink) throws {
        switch message.action {
        case .plain:
            try source.reader().copy(to: sink)
            try source.checkUnchanged()
        case .sign:
            try messageProtector().sign(by: try aSigner(), as: .detached, at: time, to: sink)
        case .encrypt:
            try encrypt(message, nil, to: sink)
        case .signAndEncrypt:
            try encrypt(message, (try aSigner(), .detached), to: sink)
        case .bounce, .deferral: throw MessageError.malformed("a message that must not go")
        }
    }

    private func encrypt(
        _ message: Message,
        _ signer: (SignedDataWriter.Signer, SignatureForm)?,
        to sink: any ByteSink
    ) throws {
        let negotiation = try negotiation(for: message)
        try messageProtector().encrypt(
            to: negotiation.recipients,
            cipher: negotiation.cipher,
            signedBy: signer,
            at: time,
            to: sink
        )
    }

    private func messageProtector() throws -> MessageProtector {
        try protector ?? MessageProtector(changed, headers: headers)
    }

    private func negotiation(for message: Message) throws -> CipherNegotiation {
        if let known = message.negotiation { return known }
        var seen: Set<EmailAddress> = []
        let readers = try message.recipients.filter { seen.insert($0).inserted }.map { address in
            // The plan needs all of them to be readers, or fails.
            guard let party = parties[address] else {
                throw KeystoreError.unknownRecipient(AddressScope(address))
            }
            return party
        }
        return try ciphers.negotiation(for: readers, from: senders, to: message.recipients)
    }

    /// The certificate that messages are signed with; nil if none is.
    package var signerCertificate: Fingerprint? {
        messages.contains { $0.action.signs } ? signer?.identity.certificate.fingerprint : nil
    }

    /// With which cipher and certificate each recipient's message is encrypted, of those who get an encrypted one.
    package var encryptions: [(recipient: EmailAddress, cipher: String, certificate: Fingerprint)] {
        messages.filter(\.action.encrypts).flatMap { message in
            let cipher = (try? negotiation(for: message))?.cipher.name ?? "unknown"
            return message.recipients.compactMap { recipient in
                parties[recipient].map { (recipient, cipher, $0.certificate.fingerprint) }
            }
        }
    }

    private func aSigner() throws -> SignedDataWriter.Signer {
        guard let signer else { throw MessageError.malformed("it has no signer") }
        return signer
    }
}
