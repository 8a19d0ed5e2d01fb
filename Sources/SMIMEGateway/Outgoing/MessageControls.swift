package import ByteStreams
package import InternetMessage
import SMIME
package import SMIMEAgent
import SMIMEStore

/// The protection that a message requests from the filter, and the message without the request.
///
/// X-SMIME fields and subject tags are always removed. So are Bcc fields, which recipients must not see.
package struct MessageControls: Sendable {
    /// The request in the message.
    package let request: ProtectionRequest
    /// The parts of X-SMIME fields that could not be understood.
    package let unread: [String]
    /// The message to send; the original source if nothing had to be removed.
    package let source: any ByteSource
    /// The parsed message in `source`.
    package let message: Entity
    /// The fields of the original message with the recipients whom all can see.
    private let visibleFields: [HeaderField]
    /// Whether the original message was resent.
    private let isResent: Bool

    /// Reads the header of the message in `source`.
    ///
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: `MIMEError`; `MessageError.malformed` for a subject that is too long or has a tag that cannot be removed;
    ///   `MessageError.defective` if text of the message would become header fields, or only some programs find a request
    ///   (`HiddenRequest`).
    package init(of source: any ByteSource, structure: Entity? = nil, tags: SubjectTags) throws {
        let original = try structure ?? MIMEReader.message(in: source)
        let header = original.header
        guard try !HiddenRequest.isThere(in: source, header, tags: tags) else {
            throw MessageError.defective(.hiddenFields)
        }
        var request = ProtectionRequest()
        var unread: [String] = []
        var edited = Array(header.leadingBytes)
        var isEdited = false
        // If there are two subjects, it is unknown which of them the sender sees.
        let hasOneSubject = header.all("Subject").count == 1
        for field in header.fields {
            if field.isNamed("X-SMIME") {
                request = request.merging(ProtectionRequest(parsing: field.value))
                unread += ProtectionRequest.unread(in: field.value)
                isEdited = true
            } else if field.namesHiddenRecipients {
                isEdited = true
            } else if field.isNamed("Subject"),
                let (tagRequest, untaggedField) = try tags.read(
                    field,
                    lineEnd: header.lineEnd,
                    mayLower: hasOneSubject
                )
            {
                request = request.merging(tagRequest)
                edited += untaggedField
                isEdited = true
            } else {
                edited += field.rawBytes
            }
        }
        visibleFields = header.visibleRecipientFields
        isResent = !ResentFields(header).isEmpty
        self.request = request
        self.unread = unread
        self.source = isEdited ? RewrittenSource(edited, source, after: header.range.upperBound) : source
        message = isEdited ? try MIMEReader.message(in: self.source, afterChangeTo: original) : original
        // If all fields before the line that ended the header are removed, that line becomes the first one. There a From line
        // of an mbox file is allowed, and text after it would become fields.
        guard message.header.bytes.count == (isEdited ? edited.count : header.bytes.count) else {
            throw MessageError.defective(.hiddenFields)
        }
    }

    /// The recipients in To and Cc, which all recipients can see; for a resent message, those of the latest resending.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package func visibleRecipients() throws(MIMEError) -> Set<EmailAddress> {
        var visible: Set<EmailAddress> = []
        for field in visibleFields {
            visible.formUnion(try AddressList(field: field).addresses)
        }
        return visible
    }

    /// The request that counts as the sender's own. In a resent message, it may be that of the original author, so it cannot
    /// lower the protection.
    package var senderRequest: ProtectionRequest {
        isResent ? request.withoutLowering : request
    }

    /// All addresses in all From fields. If there is not exactly one well-formed field, these include all that a lenient
    /// program may find.
    ///
    /// - Parameter author: the result of reading the message's From.
    /// - Throws: `MIMEError.limitExceeded(.addresses)`; what reading the message throws.
    func claimedAuthors(_ author: AuthorReading) throws -> [EmailAddress] {
        if let address = author.soleAddress { return [address] }
        let fields = message.header.all("From")
        if fields.count == 1, let field = fields.first, message.header.ambiguity == nil {
            let list = try AddressList(field: field)
            if list.defects.isDisjoint(with: [.malformed, .route]) { return list.addresses }
        }
        let listed = try message.header.addresses("From")
        let mentioned = try MentionedAddresses(inFromOf: source)
        guard !mentioned.isIncomplete else { throw MIMEError.limitExceeded(.addresses) }
        return listed + mentioned.all.subtracting(listed).sorted { $0.key < $1.key }
    }
}

/// The data about a message that is known before its recipients' certificates are looked up.
struct QuestionDraft {
    let flags: ProtectionRequest
    let request: ProtectionRequest
    let kind: Policy.Kind?
    let layer: ExistingLayer
    let subaddressing: Subaddressing

    /// The policy questions, one for each of `senders`.
    func questions(
        from senders: [RuledSender],
        rules: [Policy.Rule],
        signing: Availability,
        _ choices: [EmailAddress: RecipientChoice]
    ) -> [PolicyQuestion] {
        let readers = choices.filter { !layer.hasHistoricCipher && $0.value.inUse.contains(where: layer.isEncrypted) }
        return senders.map { sender in
            PolicyQuestion(
                sender: sender.address,
                isSenderClaimed: sender.isClaimed,
                account: sender.account,
                rules: rules,
                flags: flags,
                message: request,
                kind: kind,
                protection: layer.protection,
                readers: Set(readers.keys),
                subaddressing: subaddressing,
                signing: signing,
                encryption: choices.mapValues(Availability.init)
            )
        }
    }
}

extension EmailAddress {
    /// Whether the decision about one of `questions` depends on the recipient's certificate.
    func needsCertificate(_ questions: [PolicyQuestion]) -> Bool {
        questions.contains { question in
            var question = question
            question.encryption[self] = .usable
            let decision = PolicyDecision(for: self, question)
            return decision.encrypt != .never && (decision.action.encrypts || !decision.unmetRequirements.isEmpty)
        }
    }
}

/// Which protection the form of a message prevents. For example, a message that has a part with non-ASCII text in an unknown
/// transfer encoding cannot be signed.
struct FormLimits: Sendable {
    /// Why the message cannot be signed; nil if it can be signed, or if signing was not examined.
    private(set) var signing: (any Error)?
    /// Why the message cannot be encrypted; nil if it can be encrypted, or if encryption was not examined.
    private(set) var encryption: (any Error)?

    /// Whether the form permits all protection that was examined.
    var areNone: Bool { signing == nil && encryption == nil }
    /// The error if the message must be protected; nil if the form permits the protection.
    var error: (any Error)? { encryption ?? signing }

    /// Examines the message as far as `actions` require.
    ///
    /// - Parameter protector: creates the protector of the message. It is called here, so that a fault of the message
    ///   counts as a limit of its form.
    /// - Throws: what reading the message throws.
    init(for actions: Set<PolicyDecision.Action>, _ protector: () throws -> MessageProtector) throws {
        func obstacle(isSigned: Bool, isEncrypted: Bool) throws -> (any Error)? {
            do {
                try protector().checkForm(isSigned: isSigned, isEncrypted: isEncrypted)
                return nil
            } catch {
                switch error {
                case is MessageError, MIMEError.limitExceeded, StreamError.malformedBase64: return error
                default: throw error
                }
            }
        }
        // Most messages can be signed and encrypted. Such a message can also be encrypted without a signature.
        let hasBoth = try actions.contains(.signAndEncrypt) && obstacle(isSigned: true, isEncrypted: true) == nil
        guard !hasBoth else {
            if actions.contains(.sign) { signing = try obstacle(isSigned: true, isEncrypted: false) }
            return
        }
        if actions.contains(where: \.encrypts) { encryption = try obstacle(isSigned: false, isEncrypted: true) }
        // A message that cannot be encrypted may still be signed.
        let signsInside = encryption == nil && actions.contains(.signAndEncrypt)
        if signsInside { signing = try obstacle(isSigned: true, isEncrypted: true) }
        let signsAlone = actions.contains(.sign) || encryption != nil && actions.contains(.signAndEncrypt)
        if signing == nil, signsAlone { signing = try obstacle(isSigned: true, isEncrypted: false) }
    }
}
