import InternetMessage
import SMIMEAgent
import SMIMEStore

/// An address whose sender rules apply to a message, and the account it belongs to.
struct RuledSender: Sendable {
    /// The address; nil where neither the envelope nor From names one.
    let address: EmailAddress?
    /// The main address of the account.
    let account: EmailAddress?
    /// Whether only From says that it sends.
    let isClaimed: Bool

    /// The senders whose rules count for a message: the envelope sender. If that has no domain, as the null sender,
    /// every address in From that is an account or has a rule. An address without an account can only add protection.
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

    /// Whether there is a rule for it as a sender.
    private func hasRule(_ subaddressing: Subaddressing, in snapshot: StoreSnapshot) throws -> Bool {
        try snapshot.rules(forSenders: ruleAddresses(subaddressing), recipients: []).contains(where: \.isForSender)
    }

    /// The addresses that rules for it can name.
    func ruleAddresses(_ subaddressing: Subaddressing) -> [EmailAddress] {
        [address, address.flatMap(subaddressing.base), account].compactMap(\.self)
    }
}

extension PolicyDecision {
    /// The decision for `recipient` with the most protection among those for `questions`; nil if there is none.
    static func strictest(for recipient: EmailAddress, _ questions: [PolicyQuestion]) -> PolicyDecision? {
        questions.map { PolicyDecision(for: recipient, $0) }.max { one, other in
            // If the message must not be sent by one of these senders, it is not sent.
            guard one.obstacles.isEmpty == other.obstacles.isEmpty else { return one.obstacles.isEmpty }
            return (one.encrypt, one.sign) < (other.encrypt, other.sign)
        }
    }
}
