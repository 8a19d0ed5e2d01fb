public import Foundation
public import InternetMessage
public import PKIX
public import SMIME
public import SMIMEStore

extension Store {
    /// One copy of a message, and the recipients of that copy.
    public struct Copy: Sendable {
        /// The message of this copy; it is signed and encrypted while it is written.
        public let message: Message
        /// The envelope recipients of this copy.
        public let recipients: [EmailAddress]
        /// Sentences about problems that did not prevent encryption, such as that the author will not be able to read the
        /// mail. They are the same for all copies.
        public let warnings: [String]
    }

    /// The identity that signs a mail with `header`, with the certificates that accompany the signature.
    ///
    /// The account of the address in From signs, as with `smime sign`: with its identity that names this address, or
    /// else with its current identity if a person assigned that identity to the account.
    ///
    /// - Throws: `.doubtfulAuthor`, `.unusableSigner`, `.unusableSetting`, `.storeLocked`, `.wrongPassphrase`,
    ///   `.storeUnusable`, `.storeBusy`
    public func signer(for header: HeaderBlock, at time: Date = .now) async throws(SMIMEError) -> Identity {
        try await SMIMEError.inBackground {
            var options = ValidationOptions()
            let filed = try await filedRevocationLists()
            (options.certificateLists, options.unreadableLists) = (filed.all, filed.unreadable)
            return try await SignerSelection().signer(for: header, in: self, at: time, under: options).identity
        }
    }

    /// `mail` signed and encrypted as by `smime encrypt --sign`:
    ///
    /// - The account of From signs.
    /// - One copy is encrypted to To, Cc and the author. Each Bcc recipient gets a separate copy, which is encrypted to
    ///   that recipient and the author.
    /// - Settings and announced capabilities choose the cipher.
    /// - The account and the settings choose the header protection.
    ///
    /// For a resent message, the fields of the latest resending take the place of To, Cc and Bcc (RFC 5322 §3.6.6). Without
    /// encryption there is one copy for all recipients. No copy has a Bcc field, even without signature and encryption.
    ///
    /// The rules of the store do not apply: only a `Gateway` applies them.
    ///
    /// - Throws: with encryption, `.unusableRecipient` if there is no recipient, or if recipients have no usable
    ///   certificate (the error names all of them); `.noCommonCipher`, `.doubtfulAuthor`, `.malformed`, `.unusableSigner`,
    ///   `.serviceUnavailable`, `.unusableSetting`, `.storeLocked`, `.wrongPassphrase`, `.storeUnusable`, `.storeBusy`
    public func protect(
        _ mail: Message,
        signing: Bool = true,
        encrypting: Bool = true,
        at time: Date = .now
    ) async throws(SMIMEError) -> [Copy] {
        try await SMIMEError.inBackground {
            let author = try MailAuthor(of: mail.header)?.address
            let account = try await accounts.summary(of: author)
            let asked = OnlineRevocation(StoreOpening(self), isDemanded: false)
            let lookup = try await lookup(systemAnchors: true, lists: FolderLists { _ in }, revocation: asked)
            let signer =
                signing
                ? try await SignerSelection().signer(for: mail.header, in: self, at: time, under: lookup.options) : nil
            let mail = mail.protectingHeader(try await headerPolicy(ofMailFrom: mail.header.senders))
            guard encrypting else {
                let copy =
                    try signer.map { try mail.protected(by: $0, at: time) } ?? mail.withoutHiddenRecipients()
                let recipients = try RecipientPlan.everyRecipient(of: mail.header)
                return [Copy(message: copy, recipients: recipients, warnings: [])]
            }
            let warnings = WarningList()
            let plan = RecipientPlan(
                lookup: lookup,
                time: time,
                ciphers: try await cipherPreferences(),
                online: asked
            ) { warnings.add("\($0)") }
            let copies = try await plan.copies(of: mail.header, by: author, account?.address)
            // If the answers of the services cannot be stored, the next call asks the services again.
            _ = await asked.keep()
            return try copies.map { copy in
                Copy(
                    message: try mail.protected(
                        by: signer,
                        to: copy.negotiation.recipients,
                        cipher: copy.negotiation.cipher,
                        at: time
                    ),
                    recipients: copy.addresses,
                    warnings: warnings.all
                )
            }
        }
    }

    /// The copies, with recipients and cipher, that `protect` would make of a mail with `header`: one for To, Cc and the
    /// author, and one for each Bcc recipient and the author.
    ///
    /// - Throws: `.unusableRecipient` if there is no recipient, or if recipients have no usable certificate (the error
    ///   names all of them); `.noCommonCipher`, `.doubtfulAuthor`, `.malformed`, `.serviceUnavailable`,
    ///   `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public func recipients(
        of header: HeaderBlock,
        at time: Date = .now
    ) async throws(SMIMEError) -> [(addresses: [EmailAddress], recipients: [Recipient], cipher: ContentCipher)] {
        try await SMIMEError.inBackground {
            let author = try MailAuthor(of: header)?.address
            let account = try await accounts.summary(of: author)
            let asked = OnlineRevocation(StoreOpening(self), isDemanded: false)
            let lookup = try await lookup(systemAnchors: true, lists: FolderLists { _ in }, revocation: asked)
            let plan = RecipientPlan(lookup: lookup, time: time, ciphers: try await cipherPreferences(), online: asked)
            let copies = try await plan.copies(of: header, by: author, account?.address)
            // If the answers of the services cannot be stored, the next call asks the services again.
            _ = await asked.keep()
            return copies.map { ($0.addresses, $0.negotiation.recipients, $0.negotiation.cipher) }
        }
    }

    /// Learns the author's certificate from a valid mail; learns nothing from other mail.
    ///
    /// The store does not use a certificate with a new key until a person decides, if its trust anchor differs from
    /// that of the known certificates, or if a person imported or pinned one of these.
    ///
    /// - Throws: `.storeReadOnly`, `.storeUnusable`, `.storeBusy`, `.file`
    public func learn(from mail: OpenedMessage, at time: Date = .now) async throws(SMIMEError) -> LearningReport {
        guard let message = mail.learnable else { return LearningReport() }
        return try await learn(from: message, at: time)
    }

    /// Learns the author's certificate from a message that a gateway verified.
    ///
    /// - Throws: the errors of `learn(from:at:)` for an opened message
    public func learn(from message: VerifiedMessage, at time: Date = .now) async throws(SMIMEError) -> LearningReport {
        try await SMIMEError.inBackground {
            let learning = Learning(in: self, onChange: .sameRoot, reopensForWriting: false)
            return try await learning.learnWhatIsNew([message], at: time) ?? LearningReport()
        }
    }
}

extension RecipientPlan {
    /// The copies for the recipients in `header` and for the author, according to the author's rules and account.
    fileprivate func copies(
        of header: HeaderBlock,
        by author: EmailAddress?,
        _ account: EmailAddress?
    ) async throws -> [Copy] {
        try await copies(of: header, to: [], from: [author, account].compactMap(\.self), sender: (nil, author))
    }
}
