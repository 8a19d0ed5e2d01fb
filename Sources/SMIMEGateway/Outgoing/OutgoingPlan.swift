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
    /// One of the messages to send, with its recipients.
    package struct Message: Sendable {
        /// The envelope's recipients.
        package let recipients: [EmailAddress]
        /// The action on the message: `plain`, `sign`, `encrypt` or `sign+encrypt`.
        package let action: PolicyDecision.Action
        /// The negotiated cipher; nil if it was not determined for the plan.
        fileprivate var negotiation: CipherNegotiation?
    }

    /// The decisions, in the order of the recipients.
    package let decisions: [PolicyDecision]
    /// The messages to send, but only if `bounces` and `deferrals` are empty, which `checkSendable` checks. A mail
    /// server knows only one result for all recipients. If only some of them got the mail, the next attempt would send
    /// it to them again, or the sender would get it back without knowing who has received it.
    ///
    /// Recipients with the same action share a message. But a recipient in neither To nor Cc gets a separate encrypted
    /// message, because a shared message would show this recipient to the others in its RecipientInfos. If the
    /// recipients of an encrypted message have no cipher in common, all of them get separate messages.
    package let messages: [Message]

    /// The sources of those recipients' certificates that are not in the registry.
    package let sources: [EmailAddress: KnownRecipient.Source]

    private let source: any ByteSource
    private let parties: [EmailAddress: CipherNegotiation.Party]
    private let ciphers: CipherPreferences
    private let senders: [EmailAddress]
    /// The message to sign and encrypt, with this host's mark if the filter has a host.
    private let changed: any ByteSource
    private let signer: SignedDataWriter.Signer?
    private let headers: HeaderPolicy
    /// The protector of `changed`, if checking the message's form has already created it; if nil, the plan creates it when
    /// needed.
    private let protector: MessageProtector?
    private let time: Date
    /// The error about the form of a message that must be protected; nil if the form permits the protection.
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
            // Recipients who have no common cipher get separate messages.
            guard let readers = try? Self.readers(of: message, parties),
                let common = try? ciphers.negotiation(for: readers, from: senders, to: message.recipients)
            else { return message.recipients.map { Message(recipients: [$0], action: message.action) } }
            var message = message
            message.negotiation = common
            return [message]
        }
    }

    /// The decisions for recipients for whom the message is returned to its sender.
    package var bounces: [PolicyDecision] { decisions.filter { $0.action == .bounce } }
    /// The decisions for recipients for whom the message is deferred.
    package var deferrals: [PolicyDecision] { decisions.filter { $0.action == .deferral } }

    /// Checks that the message can be sent to all its recipients as the rules require. Otherwise it must be sent to none.
    ///
    /// - Parameter waitsForServices: whether a certificate may become usable when a revocation service answers. Then the
    ///   message is deferred instead of returned.
    /// - Throws: `GatewayError.refused`, `GatewayError.deferred`; `MessageError`, `MIMEError` or
    ///   `StreamError.malformedBase64` if only the form of the message prevents the required protection.
    package func checkSendable(waitsForServices: Bool = false) throws {
        func unmetRequirements(of decisions: [PolicyDecision]) -> [String] {
            var seen: Set<String> = []
            return decisions.flatMap(\.unmetRequirements).filter { seen.insert($0).inserted }
        }
        if let formError, !bounces.isEmpty, bounces.allSatisfy(\.isUnfit) { throw formError }
        if !bounces.isEmpty {
            throw waitsForServices
                ? GatewayError.deferred(unmetRequirements: unmetRequirements(of: bounces))
                : GatewayError.refused(unmetRequirements: unmetRequirements(of: bounces))
        }
        if !deferrals.isEmpty { throw GatewayError.deferred(unmetRequirements: unmetRequirements(of: deferrals)) }
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
    /// - Throws: what signing, encrypting, reading and writing throw. Then the output is incomplete, and must not be sent.
    package func write(_ message: Message, to sink: any ByteSink) throws {
        switch message.action {
        case .plain:
            try source.reader().copy(to: sink)
            try source.checkUnchanged()
        case .sign:
            try messageProtector().sign(by: try requiredSigner(), as: .detached, at: time, to: sink)
        case .encrypt:
            try encrypt(message, nil, to: sink)
        case .signAndEncrypt:
            try encrypt(message, (try requiredSigner(), .detached), to: sink)
        case .bounce, .deferral: throw MessageError.malformed("a message that must be returned or deferred")
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
        return try ciphers.negotiation(
            for: Self.readers(of: message, parties),
            from: senders,
            to: message.recipients
        )
    }

    /// The recipients of an encrypted message, each once. Every one of them must be able to read it.
    private static func readers(
        of message: Message,
        _ parties: [EmailAddress: CipherNegotiation.Party]
    ) throws(KeystoreError) -> [CipherNegotiation.Party] {
        var seen: Set<EmailAddress> = []
        var readers: [CipherNegotiation.Party] = []
        for address in message.recipients where seen.insert(address).inserted {
            guard let party = parties[address] else { throw .unknownRecipient(AddressScope(address)) }
            readers.append(party)
        }
        return readers
    }

    /// The certificate that signs the messages; nil if none is signed.
    package var signerCertificate: Fingerprint? {
        messages.contains { $0.action.signs } ? signer?.identity.certificate.fingerprint : nil
    }

    /// The cipher and the certificate for each recipient who gets an encrypted message.
    package var encryptions: [(recipient: EmailAddress, cipher: String, certificate: Fingerprint)] {
        messages.filter(\.action.encrypts).flatMap { message in
            let cipher = (try? negotiation(for: message))?.cipher.name ?? "unknown"
            return message.recipients.compactMap { recipient in
                parties[recipient].map { (recipient, cipher, $0.certificate.fingerprint) }
            }
        }
    }

    private func requiredSigner() throws -> SignedDataWriter.Signer {
        guard let signer else { throw MessageError.malformed("it has no signer") }
        return signer
    }
}
