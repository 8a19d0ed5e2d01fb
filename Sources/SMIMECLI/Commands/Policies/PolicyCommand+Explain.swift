import ArgumentParser
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension SMIMECommand.PolicyCommand {
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show how a message would be protected for each recipient, and why.",
            discussion: """
                Without --to the recipients are the addresses in To, Cc and Bcc, or in Resent-To, Resent-Cc and \
                Resent-Bcc of a resent message. If the message asks for another level, the reasons name the --override \
                value that applies. By default a message cannot lower the level require.

                  smime policy explain --from alice@example.org --to bob@example.com
                  smime policy explain mail.eml --from alice@example.org
                  smime policy explain mail.eml --from alice@example.org --json
                """
        )

        @Argument(help: ArgumentHelp("The message; - is standard input.", valueName: "file"), completion: .file())
        var file: String?
        @Option(
            help: ArgumentHelp(
                "The sender; empty for the null sender. (default: the message's From)",
                valueName: "addr"
            ),
            completion: CompletedWords.accounts.completion
        )
        var from: GivenSender?
        @Option(
            name: .letter(.to),
            help: ArgumentHelp("A recipient; may be repeated.", valueName: "addr"),
            completion: CompletedWords.recipients.completion
        )
        var to: [EmailAddress] = []
        @OptionGroup var levels: LevelOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard file != nil || !to.isEmpty else {
                throw ValidationError("no recipients: name them with --to, or a FILE")
            }
            guard file != nil || from != nil else { throw ValidationError("no sender: name it with --from, or a FILE") }
        }

        func run() async throws {
            let store = try await global.store(.readOnly)
            let filter = OutgoingFilter(
                store: store,
                time: times.date,
                systemAnchors: anchors.systemAnchors,
                flags: levels.request,
                warn: Console.warning
            )
            if let sender = from?.address { try await warn(ofUnknown: sender, in: store) }
            let explained = try await explain(with: filter)
            try report.print(explained) { explained.text }
        }

        /// Warns if no account sends mail from `sender`, as after a typing error.
        private func warn(ofUnknown sender: EmailAddress, in store: Store) async throws {
            let account = store.exists ? try await store.accounts.account(ifAnyFor: sender) : nil
            guard account == nil else { return }
            Console.warning("\(sender): no such account, so none of its mail is signed")
        }

        private func explain(with filter: OutgoingFilter) async throws -> PolicyReport {
            guard let file else {
                let decisions = try await filter.decisions(
                    from: from?.address,
                    authors: [from?.address].compactMap(\.self),
                    to: to
                )
                return PolicyReport(from?.address, decisions)
            }
            do {
                let source = try MessageInput.open(file, isText: false)
                let message = try MIMEReader.message(in: source)
                let recipients = try to.isEmpty ? Self.recipients(of: message.header) : to
                guard let sender = try from ?? MailAuthor(of: message.header).map({ GivenSender(address: $0.address) })
                else {
                    throw Failure(.usage, "the message has no From", hints: ["name the sender with --from ADDR"])
                }
                let decisions = try await filter.decisions(
                    on: source,
                    structure: message,
                    from: sender.address.map { .address($0) } ?? .null,
                    to: recipients
                )
                return PolicyReport(sender.address, decisions)
            } catch { throw Failure(error, in: InputFile.name(file)) }
        }

        private static func recipients(of header: HeaderBlock) throws -> [EmailAddress] {
            let addresses = try RecipientPlan.everyRecipient(of: header)
            guard !addresses.isEmpty else {
                throw Failure(.usage, "the message names no recipients", hints: ["name them with --to ADDR"])
            }
            return addresses
        }
    }
}

/// The sender that `--from` names: an address, or empty for the null sender.
struct GivenSender: ExpressibleByArgument {
    /// The address; nil for the null sender.
    let address: EmailAddress?

    init(address: EmailAddress) { self.address = address }

    init?(argument: String) {
        address = argument.isEmpty ? nil : EmailAddress(argument: argument)
        guard argument.isEmpty || address != nil else { return nil }
    }
}

extension SMIMECommand.PolicyCommand {
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove all rules.",
            discussion: """
                Also removes rules that are damaged. Without rules, mail is sent in clear if it cannot be encrypted. Asks \
                first, unless --yes is given.

                  smime policy clear
                  smime policy clear --yes
                """
        )

        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.existingStore(.readWrite)
            try confirmation.confirm("all rules would be removed, and mail could be sent in clear")
            try await store.policy.removeAll()
            try await store.close()
            try RuleReport.print([], report)
            Console.note("all rules are removed")
        }
    }
}
