import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.Encrypt {
    /// The values that all files share.
    struct EncryptionContext: Sendable {
        let opening: StoreOpening
        /// The recipients' certificates that were given as files.
        let extra: [Certificate]
        let secret: SharedSecret?
        let lists: FolderLists
        let asked: OnlineRevocation
    }

    func encrypt(_ path: String, _ common: EncryptionContext) async throws -> [EncryptedFile] {
        guard !protection.isBare else { return try await encryptContent(path, common) }
        let opened = try LocatedEntity(reading: MessageInput.open(path, isText: text, fields: textFields))
        let message =
            sign
            ? files.measured(try signing.withAuthor(opened, named: InputFile.name(path)), passes: 3)
            : files.measured(opened, passes: 2)
        let author = try MailAuthor(of: message.entity.header)?.address
        let store = try await common.opening.store()
        let account = try await store.accounts.summary(of: signing.from ?? author)
        let protector = try await protector(
            of: message,
            at: path,
            hasSecret: common.secret != nil,
            in: store
        )
        let lookup = try await lookup(common, store)
        let plan = try await plan(common, lookup)
        let copies = try await copies(plan, of: protector.header, by: author, account)
        let signer =
            sign
            ? try await signing.signer(
                for: protector.header,
                in: store,
                at: givenTime ?? .now,
                under: lookup.options
            )
            : nil
        protector.warnOfUnprotected(InputFile.name(path), isEncrypted: true)
        return try write(
            copies,
            of: path,
            common.secret,
            signedBy: signer?.identity.certificate,
            hiding: protector.policy.confidentiality
        ) { copy, sink in
            try protector.encrypt(
                to: copy.negotiation.recipients,
                secrets: [common.secret].compactMap(\.self),
                cipher: copy.negotiation.cipher,
                signedBy: signer.map { ($0, signing.form) },
                at: .now,
                to: sink,
                lineEnd: files.lineEnd
            )
        }
    }

    /// The header fields that are added to plain text.
    var textFields: [NewField] { signing.textFields(to: to, subject: subject) }

    /// The copies of a message or file with `header`, with their recipients; `author` is the message's author.
    func copies(
        _ plan: RecipientPlan,
        of header: HeaderBlock,
        by author: EmailAddress?,
        _ account: AccountSummary?
    ) async throws -> [RecipientPlan.Copy] {
        try await plan.copies(
            of: header,
            to: to,
            // A rule for the account also applies to mail from its aliases.
            from: [signing.from, author, account?.address].compactMap(\.self),
            sender: noSelf ? nil : (signing.from, author)
        )
    }

    /// Lets `body` write every copy to its output.
    ///
    /// - Parameter confidentiality: which header fields the mail hides; nil for a CMS object outside of mail, which has no
    ///   header.
    func write(
        _ copies: [RecipientPlan.Copy],
        of path: String,
        _ secret: SharedSecret?,
        signedBy signer: Certificate? = nil,
        hiding confidentiality: HeaderConfidentiality? = nil,
        body: (RecipientPlan.Copy, any ByteSink) throws -> Void
    ) throws -> [EncryptedFile] {
        try copies.map { copy in
            let target = files.target(for: path).map { RecipientPlan.Copy.path($0, number: copy.number) }
            try protection.check(target: target)
            try Output.write(to: target) { try body(copy, $0) }
            if copies.count > 1, let target {
                let who = copy.addresses.map(\.text).joined(separator: ", ")
                Console.note("\(target): send it only to \(who)")
            }
            if isatty(STDERR_FILENO) == 1 {
                EncryptionSummary(copy, secret, signedBy: signer, hiding: confidentiality).lines.forEach(Console.note)
            }
            return EncryptedFile(target ?? "-", copy, secret: secret)
        }
    }

    /// `message` with its header protection.
    private func protector(
        of message: LocatedEntity,
        at path: String,
        hasSecret: Bool,
        in store: Store
    ) async throws -> MessageProtector {
        let senders = message.entity.header.senders.union([signing.from].compactMap(\.self))
        var policy = try await protection.headerPolicy(ofMailFrom: senders, in: store)
        policy.confidentiality = headerConfidentiality ?? policy.confidentiality
        policy.hasLegacyDisplay = legacyDisplay ?? policy.hasLegacyDisplay
        var protector = try MessageProtector(message, headers: policy)
        protector.compresses = compress
        MessageInput.noteMissingHeader(protector.header, of: path)
        // With a password or secret key there is one copy for all.
        guard files.outputDir == nil, to.isEmpty, !hasSecret else { return protector }
        // Some programs write an empty Bcc field into every mail. An empty field names no recipient.
        guard try RecipientPlan.hiddenRecipients(of: protector.header).isEmpty else {
            throw Failure(
                .usage,
                "\(InputFile.name(path)): a Bcc field needs --output-dir, for a separate copy for each address",
                hints: [
                    "or send it as your policy says, with a copy for each hidden recipient: smime sendmail -t <FILE"
                ]
            )
        }
        return protector
    }

    func lookup(_ common: EncryptionContext, _ store: Store) async throws -> RecipientLookup {
        try await store.lookup(
            systemAnchors: !noSystemAnchors,
            options: protection.validation,
            lists: common.lists,
            revocation: common.asked
        )
    }

    func plan(_ common: EncryptionContext, _ lookup: RecipientLookup) async throws -> RecipientPlan {
        RecipientPlan(
            lookup: lookup,
            time: givenTime ?? .now,
            ciphers: try await lookup.store.cipherPreferences(),
            demanded: cipher,
            extra: common.extra,
            hasSecret: common.secret != nil,
            online: common.asked,
            warn: { Console.warning($0.text) }
        )
    }
}
