package import InternetMessage
package import SMIME
package import SMIMEAgent
package import SMIMEStore

/// All data on which a decision about a message depends.
package struct PolicyQuestion: Sendable {
    /// The sender. If the envelope has the null sender, as bounces do: the account in From, or nil if there is none.
    package var sender: EmailAddress?
    /// Whether `sender` is taken from From because the envelope has none. Then the rules for the sender apply, but requests
    /// in the message are ignored.
    package var isSenderClaimed: Bool
    /// The main address of the account to which `sender` belongs; nil if there is none.
    package var account: EmailAddress?
    /// The rules for the sender, the recipient and the kind of mail, and the global rule.
    package var rules: [Policy.Rule]
    /// The levels given on the command line.
    package var flags: ProtectionRequest
    /// The levels that the message requests. They are ignored unless the sender is an account.
    package var message: ProtectionRequest
    /// The kind of the message; nil if it is from one person to another.
    package var kind: Policy.Kind?
    /// The protection that the message already has.
    package var protection: ExistingProtection
    /// The recipients for whom an already encrypted message has a RecipientInfo that matches a certificate in use.
    package var readers: Set<EmailAddress>
    /// The syntax of details in addresses.
    package var subaddressing: Subaddressing
    /// Whether an identity is available for signing the message.
    package var signing: Availability
    /// Whether a certificate is available for each recipient. Recipients that are left out have none.
    package var encryption: [EmailAddress: Availability]
    /// Why the form of the message prevents signing; nil if it does not.
    package var signingObstacle: String?
    /// Why the form of the message prevents encryption; nil if it does not.
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
