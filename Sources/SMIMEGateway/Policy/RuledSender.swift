import InternetMessage
import SMIMEAgent
import SMIMEStore

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
        let envelope = RuledSender(address: sender.ruled, account: account, isClaimed: false)
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
