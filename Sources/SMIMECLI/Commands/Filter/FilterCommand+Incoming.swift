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
    struct Incoming: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "incoming",
            _superCommandName: SMIMECommand.name,
            abstract: "Verify incoming mail, and learn certificates from it.",
            discussion: """
                Writes the verdict into an Authentication-Results field (RFC 7281). Removes forged fields of that \
                kind, and X-SMIME fields. Never changes signed content. Decrypts mail for accounts where a rule \
                allows it.

                Every message is delivered with its verdict, except these, which are rejected (status 65): an empty \
                message, a header of more than 1 MiB, a message that went through this filter many times, and \
                unencrypted mail from an account of the store to a recipient for whom a rule requires encryption.

                  smime filter incoming --sender bob@example.com --queue-id 4XyZ \\
                    -- alice@example.org < mail.eml
                  smime policy set --recipient alice@example.org --decrypt-at-gateway yes
                """
        )

        @OptionGroup var options: FilterOptions
        @OptionGroup var harvest: HarvestOptions

        func run() async throws {
            try await options.run("incoming", describe: Self.failure, rescue: { try await rescue(&$0, $1) }) {
                try await filter(&$0)
            }
        }

        private func filter(_ log: inout FilterLog) async throws {
            let source = try Input.standardInput()
            guard source.count > 0 else { throw EmptyMessage() }
            log.add("message_id", UnparsedMessage.messageID(of: source))
            #if DEBUG
            TestTrap.spring()
            #endif
            let store = try await options.store(&log)
            let entry = try options.entry(source)
            let recipients = try await options.waiting(store, entry)
            guard !recipients.isEmpty else { return log.add("actions", "sent before") }
            let asked = OnlineRevocation(StoreOpening(store), isDemanded: false)
            let warnings = log.warnings
            let warn: @Sendable (String) -> Void = { warnings.add($0) }
            let filter = IncomingFilter(
                store: store,
                provider: StoreKeyProvider(store, systemAnchors: options.systemAnchors, warn: warn),
                time: .now,
                host: try await options.host(store),
                options: options.validation,
                revocation: asked,
                warn: warn
            )
            try await RequiredEncryption(store: store).check(source, from: options.sender, to: recipients)
            let plan = try await filter.plan(source, to: recipients)
            log.add(plan)
            guard !options.dryRun else { return try report(plan) }
            // The mail server returns undeliverable mail to its sender, and an attacker who sent another person's
            // ciphertext would get it in clear.
            let returned = try await store.decryptedSender().text
            let messages = try plan.messages.map { message in
                Delivery.Message(
                    try SpooledFile { try message.source.reader().copy(to: $0) },
                    to: message.recipients,
                    from: message.isDecrypted ? returned : nil
                )
            }
            try source.checkUnchanged()
            #if DEBUG
            TestTrap.spring(at: "sending")
            #endif
            try await options.deliver(messages, store, entry, &log)
            #if DEBUG
            TestTrap.spring(at: "sent")
            #endif
            await log.warnings.add(asked)
            if !harvest.isOff, let message = plan.learnable { await learn(from: message, store, &log) }
        }

        /// Delivers a message that ended its worker, unchanged but for forged verdicts, which are removed. If the envelope sender
        /// must encrypt for a recipient it is rejected, since nothing here can find out whether it is encrypted.
        private func rescue(_ log: inout FilterLog, _ signal: Int32) async throws {
            let source = try Input.standardInput()
            guard source.count > 0 else { throw EmptyMessage() }
            log.add("message_id", UnparsedMessage.messageID(of: source))
            let store = try await options.store(&log)
            let entry = try options.entry(source)
            let recipients = try await options.waiting(store, entry)
            guard !recipients.isEmpty else { return log.add("actions", "sent before") }
            try await RequiredEncryption(store: store).checkEnvelope(from: options.sender, to: recipients)
            let message = try UnparsedMessage(
                source,
                by: try await options.host(store),
                tagsSubjects: try await store.tagsSubjects()
            )
            log.add("verdict", "permerror")
            log.add(recipients.map { ($0, "delivered") })
            let file = try SpooledFile { try message.write(to: $0) }
            try await options.deliver([Delivery.Message(file, to: recipients)], store, entry, &log)
        }

        private func report(_ plan: IncomingPlan) throws {
            if options.json { return try Report.print(VerificationOutput(plan.deepestReport, file: "standard input")) }
            let lines = plan.messages.flatMap { message in
                message.recipients.map {
                    "\($0): \(message.isDecrypted ? "decrypted" : "delivered"), \(message.report.status.rawValue)\n"
                }
            }
            try Console.print(lines.joined() + plan.deepestReport.text(file: "message"))
        }

        /// The mail is delivered by now, so nothing that goes wrong here is a failure any more.
        private func learn(from message: VerifiedMessage, _ store: Store, _ log: inout FilterLog) async {
            let learning = Learning(in: store, onChange: harvest.onChange)
            do throws(KeystoreError) {
                guard try await learning.preview([message]).changesStore else { return }
                guard let entry = try await learning.learn([message])?.entries.first else { return }
                log.add("learned", entry.kind.rawValue)
                log.addDetail("learned_certificate", "\(entry.certificate.fingerprint)")
                log.addDetail("known_certificate", entry.previous.map { "\($0.fingerprint)" })
                if entry.isHeld { log.addDetail("held", "yes") }
            } catch {
                log.warnings.add("not learned: \(Failure(error).message)")
            }
        }

        private struct EmptyMessage: Error {}

        /// Every message is delivered, whatever is wrong with it, except an empty one, one that loops, and one with
        /// malformed recipients.
        private static func failure(_ error: any Error) -> Failure {
            // There is nothing to deliver, and another attempt would not help.
            if error is EmptyMessage { return Failure(.badData, "message: malformed: the input is empty") }
            let failure = Failure(error, in: "message")
            if error is GatewayError || (error as? Failure)?.status == .noUser { return failure }
            // The header is too large to remove forged verdicts from it, and another attempt would not help.
            if case MIMEError.limitExceeded = error { return failure }
            return Failure(max(failure.status, .tryAgain), failure.message, hints: failure.hints)
        }
    }
}
