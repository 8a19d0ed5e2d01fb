package import InternetMessage
package import SMIME
package import SMIMEAgent
package import SMIMEStore

/// All data on which a decision about a message depends.
package struct PolicyQuestion: Sendable {
    /// The envelope sender. If the envelope sender has no domain, as the null sender of bounces: an address in From
    /// that belongs to an account or has a rule, or nil.
    package var sender: EmailAddress?
    /// Whether `sender` is taken from From because the envelope sender has no domain. Then the rules for the sender apply,
    /// but requests in the message are ignored.
    package var isSenderClaimed: Bool
    /// The main address of the account to which `sender` belongs; nil if there is none.
    package var account: EmailAddress?
    /// The rules for the sender, for all recipients and for the kind of mail, and the global rule.
    package var rules: [Policy.Rule]
    /// The levels given on the command line.
    package var flags: ProtectionRequest
    /// The levels that the message requests. They are ignored unless the envelope sender belongs to an account.
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

extension Policy.Kind {
    /// The kind of a message, determined from `header` and envelope; nil for mail from one person to another.
    ///
    /// RFC 5321 §4.5.5, RFC 3834 §5, RFC 2919, RFC 2369
    init?(of header: HeaderBlock, hasNullSender: Bool) {
        let precedence = header.first("Precedence")?.value.lowercased()
        let submitted = header.all("Auto-Submitted").map { Self.keyword($0) }
        if hasNullSender {
            self = .bounce
        } else if header.fields.contains(where: Self.isOfList)
            || ["list", "bulk", "junk"].contains(precedence)
        {
            self = .list
        } else if submitted.contains(where: { $0 != "no" }) || precedence == "auto_reply" {
            self = .automatic
        } else {
            return nil
        }
    }

    /// The level for such mail if there is no rule for its kind, recipient or sender; nil means the usual level.
    ///
    /// Mail servers and list software must be able to read reports and subscribers' addresses, which is not possible in
    /// encrypted mail.
    func builtInLevel(encrypting: Bool, hasAccount: Bool) -> Policy.Level? {
        switch self {
        case .automatic: nil
        case .bounce: .never
        case .list: encrypting || !hasAccount ? .never : nil
        }
    }

    /// Whether `field` is a field of list software in its usual form: with text in angle brackets, or List-Post with `NO`.
    /// Other fields whose names begin with `List-` do not indicate a mailing list.
    private static func isOfList(_ field: HeaderField) -> Bool {
        guard field.isNamed(startingWith: "List-"), listFields.contains(where: { field.isNamed($0) }) else {
            return false
        }
        if field.isNamed("List-Post"), keyword(field) == "no" { return true }
        guard let open = field.value.firstIndex(of: "<") else { return false }
        return field.value[open...].dropFirst().firstIndex(of: ">").map { $0 > field.value.index(after: open) } ?? false
    }

    /// The fields of RFC 2919 §3 and RFC 2369 §3.
    private static let listFields = [
        "List-Id", "List-Help", "List-Unsubscribe", "List-Subscribe", "List-Post", "List-Owner", "List-Archive",
    ]

    /// The field's value without parameters and comments.
    private static func keyword(_ field: HeaderField) -> String {
        let word = field.value.prefix { $0 != ";" && $0 != "(" }
        return word.filter { !$0.isWhitespace }.lowercased()
    }
}

extension Policy.Kind {
    /// The kind as written in sentences: `bounces`, `mailing lists`, `automatic mail`.
    var plural: String {
        switch self {
        case .automatic: "automatic mail"
        case .bounce: "bounces"
        case .list: "mailing lists"
        }
    }
}

/// An address whose sender rules apply to a message, with its account.
struct RuledSender: Sendable {
    /// The address; nil stands for an envelope sender without a domain, such as the null sender.
    let address: EmailAddress?
    /// The main address of the account; nil if the address belongs to no account.
    let account: EmailAddress?
    /// Whether the address is from From, because the envelope sender has no domain.
    let isClaimed: Bool

    /// The senders whose rules apply to a message: the envelope sender or, if that has no domain (such as the null sender),
    /// all addresses in From that are an account or have a rule. An address without an account can only add protection.
    static func all(
        for sender: EnvelopeSender,
        _ claimed: [EmailAddress],
        _ account: EmailAddress?,
        subaddressing: Subaddressing,
        in snapshot: StoreSnapshot
    ) throws -> [RuledSender] {
        let envelope = RuledSender(address: sender.addressForRules, account: account, isClaimed: false)
        guard envelope.address == nil else { return [envelope] }
        var seen: Set<EmailAddress> = []
        let authors = try claimed.filter { seen.insert($0).inserted }.compactMap { author in
            let account = try snapshot.account(for: author, subaddressing)
            let ruled = RuledSender(address: author, account: account?.address, isClaimed: true)
            return try account != nil || ruled.hasRule(subaddressing, in: snapshot) ? ruled : nil
        }
        return authors.contains { $0.account != nil } ? authors : [envelope] + authors
    }

    /// Whether there is a sender rule for this address.
    private func hasRule(_ subaddressing: Subaddressing, in snapshot: StoreSnapshot) throws -> Bool {
        try snapshot.rules(forSenders: ruleAddresses(subaddressing), recipients: []).contains(where: \.isForSender)
    }

    /// The addresses whose rules apply to this sender.
    func ruleAddresses(_ subaddressing: Subaddressing) -> [EmailAddress] {
        [address, address.flatMap(subaddressing.base), account].compactMap(\.self)
            + (address.map(subaddressing.implied) ?? [])
    }
}

extension PolicyDecision {
    /// The decision for `recipient` with the strongest protection among those for `questions`; nil if there is none.
    static func strictest(for recipient: EmailAddress, _ questions: [PolicyQuestion]) -> PolicyDecision? {
        questions.map { PolicyDecision(for: recipient, $0) }.max { one, other in
            // If one of these senders must not send the message, it is not sent.
            guard one.unmetRequirements.isEmpty == other.unmetRequirements.isEmpty else {
                return one.unmetRequirements.isEmpty
            }
            return (one.encrypt, one.sign) < (other.encrypt, other.sign)
        }
    }
}
