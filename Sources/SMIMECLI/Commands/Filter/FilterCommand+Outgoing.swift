import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension SMIMECommand.FilterCommand {
    struct Outgoing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "outgoing",
            _superCommandName: SMIMECommand.name,
            abstract: "Sign and encrypt outgoing mail as the policy says.",
            discussion: """
                Reads the message from standard input, signs and encrypts it, and passes it to sendmail: one message \
                for all recipients who may share it. Nothing is sent before everything is signed and encrypted.

                With --stdout the result goes to standard output if all recipients get the same message. Otherwise \
                nothing is written, and the status is 75.

                  smime filter outgoing --sender alice@example.org --queue-id 4XyZ \\
                    -- bob@example.com < mail.eml
                  smime filter outgoing --sender alice@example.org --dry-run \\
                    -- bob@example.com < mail.eml
                """
        )

        @OptionGroup var options: FilterOptions
        @OptionGroup var levels: LevelOptions
        @Flag(
            name: .customLong("no-message-override"),
            help: "Ignore what messages ask for; only remove such fields and tags."
        )
        var noMessageOverride = false

        func run() async throws {
            try await options.run("outgoing", describe: Self.failure, rescue: { try await rescue(&$0, $1) }) {
                try await filter(&$0)
            }
        }

        private func filter(_ log: inout FilterLog) async throws {
            let source = try MessageInput.open("-", isText: false)
            log.add("message_id", UnparsedMessage.messageID(of: source))
            #if DEBUG
            TestTrap.spring()
            #endif
            let store = try await options.store(&log)
            let entry = try options.entry(source)
            let recipients = try Self.addresses(try await options.waiting(store, entry))
            guard !recipients.isEmpty else { return log.add("actions", "sent before") }
            let warnings = log.warnings
            let asked = OnlineRevocation(StoreOpening(store), isDemanded: false)
            let filter = OutgoingFilter(
                store: store,
                time: .now,
                systemAnchors: options.systemAnchors,
                options: options.validation,
                revocation: asked,
                flags: levels.request,
                honoursRequests: !noMessageOverride,
                host: try await options.host(store),
                warn: { warnings.add($0) }
            )
            guard !options.dryRun else {
                let decisions = try await filter.decisions(on: source, from: options.sender, to: recipients)
                let report = PolicyReport(options.sender.address, decisions)
                return try options.json ? Report.print(report) : Console.print(report.text)
            }
            let plan = try await filter.plan(source, from: options.sender, to: recipients)
            log.add(plan)
            let hasOutages = await asked.hasOutages
            try plan.checkAllGo(waitsForServices: hasOutages && options.revocation == .hard)
            if options.standardOutput, plan.messages.count != 1 {
                throw Failure(.tryAgain, "the recipients need \(plan.messages.count) different messages")
            }
            // All of them are finished before the first one leaves.
            let messages = try plan.messages.map { message in
                Delivery.Message(
                    try SpooledFile { try plan.write(message, to: $0) },
                    to: message.recipients.map(\.text)
                )
            }
            #if DEBUG
            TestTrap.spring(at: "sending")
            #endif
            try await options.deliver(messages, store, entry, &log)
            await log.warnings.add(asked)
        }

        /// Lets a message wait at which a worker died, for once; the next time it goes back to its sender.
        private func rescue(_ log: inout FilterLog, _ signal: Int32) async throws {
            let source = try MessageInput.open("-", isText: false)
            log.add("message_id", UnparsedMessage.messageID(of: source))
            let store = try await options.store(&log)
            let recipients = try await options.waiting(store, options.entry(source))
            guard !recipients.isEmpty else { return log.add("actions", "sent before") }
            guard try await options.hasDiedBefore(at: source, store) else {
                throw Failure(.tryAgain, "4.3.0 the filter died at this message, which is tried once more")
            }
            throw Failure(.badData, "5.6.0 the message cannot be processed: the filter died at it twice")
        }

        /// A fault of the message is reported to its sender. A fault of the host or the store can be repaired, so the
        /// mail waits.
        private static func failure(_ error: any Error) -> Failure {
            let failure = Failure(error, in: "message")
            switch error {
            case is Failure, is GatewayError, is MIMEError, is MessageError, StreamError.malformedBase64: return failure
            default: return Failure(max(failure.status, .tryAgain), failure.message, hints: failure.hints)
            }
        }

        /// - Throws: `Failure` with status 67 that names every recipient who has no address mail can be sent to.
        private static func addresses(_ recipients: [String]) throws -> [EmailAddress] {
            let addresses = recipients.map { try? EmailAddress($0) }
            let broken = zip(recipients, addresses).filter { $1 == nil }.map(\.0)
            guard broken.isEmpty else {
                throw Failure(.noUser, "5.1.3 not an address: \(FilterOptions.list(broken))")
            }
            return addresses.compactMap(\.self)
        }
    }
}
