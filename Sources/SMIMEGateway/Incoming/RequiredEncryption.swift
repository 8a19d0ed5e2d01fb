package import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
package import SMIMEStore

/// Finds incoming mail that an account sent unencrypted, although the rules require encryption.
///
/// Such mail has passed no outgoing filter: a mail server may accept it from its own hosts on port 25, or may use the
/// incoming filter where users submit mail. Without this check the mail would be delivered unencrypted.
///
/// Mail belongs to an account if the envelope sender is the account, with or without a detail (`alice+tag@…`), or if the text
/// of From contains an address of the account. In mail from outside such a From is forged, or a mailing list returns a
/// colleague's mail. That mail is rejected as well, because it cannot be distinguished from mail of the account.
package struct RequiredEncryption: Sendable {
    private let store: Store

    /// A check with the rules and accounts of `store`.
    package init(store: Store) { self.store = store }

    /// Checks that the message in `source` is encrypted, or need not be encrypted for `recipients`.
    ///
    /// Requests in the message are ignored, and so is its kind, such as list mail. From is read leniently: all accounts whose
    /// addresses occur in it are checked. A message that exceeds a limit is treated as unencrypted.
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: `GatewayError.mustBeEncrypted`, `MIMEError.limitExceeded(.addresses)`, `KeystoreError`,
    ///   `SettingError`, and what reading throws.
    package func check(
        _ source: any ByteSource,
        structure: Entity? = nil,
        from sender: EnvelopeSender,
        to recipients: [String]
    ) async throws {
        // Most stores require no encryption, so nothing else needs to be checked.
        guard try await store.policy.rules().contains(where: { $0.encrypt == .require }) else { return }
        let header = try structure?.header ?? HeaderBlock(ofMessageIn: source)
        let listed = header?.readableAddresses("From") ?? []
        let mentioned = try MentionedAddresses(inFromOf: source)
        // Any of those that were not examined may be an account.
        guard !mentioned.isIncomplete else { throw MIMEError.limitExceeded(.addresses) }
        let claimed = listed.union(mentioned.all)
        guard let found = try await required(of: sender, claiming: Array(claimed), to: recipients) else { return }
        if let message = try structure ?? MIMEReader.messageWithinLimits(in: source),
            try ExistingLayer(of: message, in: source).protection == .encrypted
        {
            return
        }
        throw GatewayError.mustBeEncrypted(sender: found.sender, recipients: found.recipients)
    }

    /// Checks that a message at which the gateway crashed may be passed on to `recipients`.
    ///
    /// The content is not read, so neither From nor an existing encryption is considered.
    /// - Throws: `GatewayError.mayBeUnencrypted`, `MIMEError.limitExceeded(.addresses)`, `KeystoreError`,
    ///   `SettingError`.
    package func checkEnvelope(from sender: EnvelopeSender, to recipients: [String]) async throws {
        guard let found = try await required(of: sender, claiming: [], to: recipients) else { return }
        throw GatewayError.mayBeUnencrypted(sender: found.sender, recipients: found.recipients)
    }

    /// A recipient as written, with the addresses that may be meant; a single nil if there is no address.
    private typealias Recipient = (text: String, addresses: [EmailAddress?])

    /// The account that sent the message (as `sender`, or with an address in `claimed`), and those of `recipients` for
    /// whom it must encrypt; nil if there is no such account or recipient.
    private func required(
        of sender: EnvelopeSender,
        claiming claimed: [EmailAddress],
        to recipients: [String]
    ) async throws -> (sender: EmailAddress, recipients: [String])? {
        let subaddressing = try await store.subaddressing()
        // `addressForRules` also has an address for a recipient that no account can have, but whose domain may have
        // rules. Text that is not an address is treated as every address that a mail server may find in it. Rules for
        // senders and the global rule apply to a recipient without a domain, too.
        let recipients = try recipients.map { text throws(MIMEError) -> Recipient in
            if let address = EmailAddress(recipient: text, on: "") { return (text, [address]) }
            let mentioned = MentionedAddresses(in: text)
            guard !mentioned.isIncomplete else { throw MIMEError.limitExceeded(.addresses) }
            let addresses =
                [EnvelopeSender(text).addressForRules].compactMap(\.self) + mentioned.all.sorted { $0.key < $1.key }
            return (text, addresses.isEmpty ? [nil] : addresses)
        }
        return try await store.read { snapshot in
            try Self.required(of: sender, claiming: claimed, to: recipients, subaddressing, in: snapshot)
        }
    }

    /// The first account that sent the message and must encrypt for some of `recipients`, with these recipients; nil if
    /// there is none.
    private static func required(
        of sender: EnvelopeSender,
        claiming claimed: [EmailAddress],
        to recipients: [Recipient],
        _ subaddressing: Subaddressing,
        in snapshot: StoreSnapshot
    ) throws -> (sender: EmailAddress, recipients: [String])? {
        let envelope = [sender.addressForRules].compactMap(\.self) + MentionedAddresses(in: sender.text).all
        for own in envelope + claimed.sorted(by: { $0.key < $1.key }) {
            guard let account = try snapshot.account(for: own, subaddressing) else { continue }
            let ruled = RuledSender(address: own, account: account.address, isClaimed: false)
            let rules = try snapshot.rules(
                forSenders: ruled.ruleAddresses(subaddressing),
                recipients: recipients.flatMap(\.addresses).compactMap(\.self).flatMap {
                    [$0] + subaddressing.implied(by: $0)
                }
            )
            let required = recipients.filter { recipient in
                recipient.addresses.contains { address in
                    let precedence = RulePrecedence(
                        rules,
                        recipient: address,
                        sender: own,
                        account: account.address,
                        subaddressing: subaddressing
                    )
                    return precedence.encryption.level == .require
                }
            }
            if !required.isEmpty { return (own, required.map(\.text)) }
        }
        return nil
    }
}
