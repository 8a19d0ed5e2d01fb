package import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
package import SMIMEStore

/// Finds unencrypted mail from accounts of the store that must be encrypted, and comes in as if from outside.
///
/// Such mail has passed no outgoing filter: a mail server accepts it from its own hosts on port 25, or has the incoming
/// filter where users send. Without this check it would continue in clear.
///
/// Mail counts as an account's if the envelope sender is the account, with or without a detail (`alice+tag@…`), or if
/// the text of From contains an address of the account. In mail from outside such a From is forged, or a mailing list
/// returns a colleague's mail. That mail is rejected, too, because it cannot be told apart.
package struct RequiredEncryption: Sendable {
    private let store: Store

    /// A check by the rules and accounts of `store`.
    package init(store: Store) { self.store = store }

    /// Makes sure that the message in `source` may go on in clear to `recipients`, or is encrypted.
    ///
    /// Neither requests in the message nor its claims count. From is read leniently: every account whose address occurs in it counts. A
    /// message beyond our limits counts as unencrypted.
    /// - Throws: `GatewayError.mustBeEncrypted`, `KeystoreError`, `SettingError`, and what reading throws.
    package func check(
        _ source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [String]
    ) async throws {
        // Most stores require no encryption, and then nothing else needs to be checked.
        guard try await store.policy.rules().contains(where: { $0.encrypt == .require }) else { return }
        let listed = try IncomingFilter.header(of: source)?.readableAddresses("From") ?? []
        let claimed = listed.union(try MentionedAddresses(inFromOf: source).all)
        guard let found = try await required(of: sender, claiming: Array(claimed), to: recipients) else { return }
        if let message = try Self.message(in: source),
            try ExistingLayer(of: message, in: source).protection == .encrypted
        {
            return
        }
        throw GatewayError.mustBeEncrypted(sender: found.sender, recipients: found.recipients)
    }

    /// Makes sure that a message which cannot be processed may go on to `recipients` unread.
    ///
    /// Nothing of the message is read, so it does not count who is in From, nor that it may be encrypted.
    /// - Throws: `GatewayError.mayBeClear`, `KeystoreError` and `SettingError`.
    package func checkEnvelope(from sender: EnvelopeSender, to recipients: [String]) async throws {
        guard let found = try await required(of: sender, claiming: [], to: recipients) else { return }
        throw GatewayError.mayBeClear(sender: found.sender, recipients: found.recipients)
    }

    /// The account that `sender` or an address of `claimed` is and that must encrypt for some of `recipients`, and those.
    private func required(
        of sender: EnvelopeSender,
        claiming claimed: [EmailAddress],
        to recipients: [String]
    ) async throws -> (sender: EmailAddress, recipients: [EmailAddress])? {
        let subaddressing = try await store.subaddressing()
        // A recipient that can be no account may still belong to a domain with rules.
        let addresses = recipients.compactMap { EnvelopeSender($0).ruled }
        return try await store.read { snapshot in
            try Self.required(of: sender, claiming: claimed, to: addresses, subaddressing, in: snapshot)
        }
    }

    private static func message(in source: any ByteSource) throws -> Entity? {
        do throws(MIMEError) { return try MIMEReader.message(in: source) } catch {
            if case .unreadable = error { throw error }
            return nil
        }
    }

    /// The first of our own accounts that the message is from and that must encrypt for some of `recipients`, and those.
    private static func required(
        of sender: EnvelopeSender,
        claiming claimed: [EmailAddress],
        to recipients: [EmailAddress],
        _ subaddressing: Subaddressing,
        in snapshot: StoreSnapshot
    ) throws -> (sender: EmailAddress, recipients: [EmailAddress])? {
        let envelope = [sender.ruled].compactMap(\.self) + MentionedAddresses(in: sender.text).all
        for own in envelope + claimed.sorted(by: { $0.key < $1.key }) {
            guard let account = try snapshot.account(for: own, subaddressing) else { continue }
            let ruled = RuledSender(address: own, account: account.address, isClaimed: false)
            let rules = try snapshot.rules(
                forSenders: ruled.ruleAddresses(subaddressing),
                recipients: recipients.flatMap { [$0] + subaddressing.implied(by: $0) }
            )
            let required = recipients.filter { recipient in
                let precedence = RulePrecedence(
                    rules,
                    recipient: recipient,
                    sender: own,
                    account: account.address,
                    subaddressing: subaddressing
                )
                return precedence.encryption.level == .require
            }
            if !required.isEmpty { return (own, required) }
        }
        return nil
    }
}
