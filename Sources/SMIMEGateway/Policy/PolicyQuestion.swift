package import InternetMessage
package import SMIME
package import SMIMEAgent
package import SMIMEStore

/// Everything that a decision about one message depends on.
package struct PolicyQuestion: Sendable {
    /// The sender; nil for the null sender, of bounces, unless From names an account.
    package var sender: EmailAddress?
    /// Whether `sender` comes from From, because the envelope has none: its rules count, but not what the message asks
    /// for.
    package var isSenderClaimed: Bool
    /// The main address of the account that `sender` is an address of.
    package var account: EmailAddress?
    /// The rules for the sender, the recipient and the kind of mail, and the global one.
    package var rules: [Policy.Rule]
    /// The levels on the command line.
    package var flags: ProtectionRequest
    /// The levels that the message asks for, which count only if its sender is an account.
    package var message: ProtectionRequest
    /// The kind of the message, if it is not from one person to another.
    package var kind: Policy.Kind?
    /// How the message is protected already.
    package var protection: ExistingProtection
    /// The recipients for whom an already encrypted message has a RecipientInfo with a certificate in use.
    package var readers: Set<EmailAddress>
    /// How details of addresses are written.
    package var subaddressing: Subaddressing
    /// Whether there is a key that the message can be signed with.
    package var signing: Availability
    /// Which recipients can be encrypted to. Those that are not mentioned cannot.
    package var encryption: [EmailAddress: Availability]
    /// Why the form of the message does not allow that it is signed; nil if it does.
    package var signingObstacle: String?
    /// Why the form of the message does not allow that it is encrypted; nil if it does.
    package var encryptionObstacle: String?

    package init(
        sender: EmailAddress?,
        isSenderClaimed: Bool = false,
        account: EmailAddress? = nil,
        rules: [Policy.Rule],
        flags: ProtectionRequest = ProtectionRequest(),
        message: ProtectionRequest = ProtectionRequest(),
        kind: Policy.Kind? = nil,
        protection: ExistingProtection = .unprotected,
        readers: Set<EmailAddress> = [],
        subaddressing: Subaddressing = .standard,
        signing: Availability,
        encryption: [EmailAddress: Availability]
    ) {
        self.sender = sender
        self.isSenderClaimed = isSenderClaimed
        self.account = account
        self.rules = rules
        self.flags = flags
        self.message = message
        self.kind = kind
        self.protection = protection
        self.readers = readers
        self.subaddressing = subaddressing
        self.signing = signing
        self.encryption = encryption
    }
}
