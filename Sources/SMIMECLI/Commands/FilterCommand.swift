import ArgumentParser
import Foundation
import Keystore
import MIME
import MailFilter
import SMIME
import Streams

extension SMIMECommand {
    struct FilterCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "filter",
            abstract: "Apply the policy to mail in a mail server's pipe.",
            discussion: """
                Every failure but a message that cannot be sent as it is (status 65 or 67) ends with status 75, so that the \
                server tries again.

                  smime filter outgoing --sender alice@example.org --stdout -- bob@example.com < mail.eml
                """,
            subcommands: [Outgoing.self]
        )

        /// Help is no success in a pipe that has lost its mail for it.
        func run() async throws { throw Failure(.usage, "say which way the mail goes: smime filter outgoing") }
    }
}

extension SMIMECommand.FilterCommand {
    struct Outgoing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "outgoing",
            abstract: "Sign and encrypt mail on its way out, as the policy says.",
            discussion: """
                The message comes on standard input. With --stdout the result goes to standard output, if all recipients \
                get the same message; else nothing is written, and the status is 75.

                  smime filter outgoing --sender alice@example.org --stdout -- bob@example.com < mail.eml
                """
        )

        @Option(
            help: ArgumentHelp("The envelope sender; empty or MAILER-DAEMON for bounces.", valueName: "addr"),
            transform: EnvelopeSender.init
        )
        var sender: EnvelopeSender
        @Flag(name: .customLong("stdout"), help: "Write the message to standard output.")
        var standardOutput = false
        @OptionGroup var levels: LevelOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var global: GlobalOptions
        @Argument(help: ArgumentHelp("The envelope recipients.", valueName: "rcpt"))
        var recipients: [EmailAddress]

        func validate() throws {
            guard standardOutput else { throw ValidationError("say where the message goes: --stdout") }
        }

        func run() async throws {
            do { try await filter() } catch { throw Self.failure(error) }
        }

        private func filter() async throws {
            let source = try MessageInput.open("-", isText: false)
            let store = try await global.store(.readOnly)
            let filter = OutgoingFilter(
                store: store,
                time: .now,
                systemAnchors: anchors.systemAnchors,
                flags: levels.wish,
                tags: try await store.subjectTags()
            )
            let plan = try await filter.plan(source, from: sender.address, to: recipients)
            try Self.checkAllGo(plan)
            guard plan.messages.count == 1, let message = plan.messages.first else {
                throw Failure(.tryAgain, "the recipients need \(plan.messages.count) different messages")
            }
            try write(message, of: plan)
        }

        /// What is wrong with the message is told to its sender; what is wrong with us or our store can be mended.
        private static func failure(_ error: any Error) -> Failure {
            let failure = Failure(error, in: "message")
            switch error {
            case is Failure, is MIMEError, is SMIMEError, StreamError.malformedBase64: return failure
            default: return Failure(max(failure.status, .tryAgain), failure.message, hints: failure.hints)
            }
        }

        /// - Throws: `Failure` if somebody's message must not go; it names everybody concerned.
        private static func checkAllGo(_ plan: OutgoingPlan) throws {
            func obstacles(_ decisions: [PolicyDecision]) -> String {
                var seen: Set<String> = []
                return decisions.flatMap(\.obstacles).filter { seen.insert($0).inserted }.joined(separator: ", ")
            }
            if !plan.bounces.isEmpty { throw Failure(.noUser, obstacles(plan.bounces)) }
            if !plan.deferrals.isEmpty { throw Failure(.tryAgain, "4.7.1 " + obstacles(plan.deferrals)) }
        }

        /// Writes `message` once all of it is there, so that half a message is never taken for one.
        private func write(_ message: OutgoingPlan.Message, of plan: OutgoingPlan) throws {
            if message.action == .plain {
                try Output.write(to: nil) { try plan.write(message, to: $0) }
            } else {
                let spool = Spool()
                try plan.write(message, to: spool)
                let result = try spool.finish()
                try Output.write(to: nil) { try result.reader().copy(to: $0) }
            }
            guard close(STDOUT_FILENO) == 0 else {
                throw Failure(.inputOutput, "standard output: cannot close: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Who a mail server says that mail is from.
    struct EnvelopeSender: Sendable {
        /// Nil for the null sender (RFC 5321 §4.5.5), which pipe(8) calls MAILER-DAEMON.
        let address: EmailAddress?

        init(_ text: String) throws {
            let isNull = ["", "<>", "mailer-daemon"].contains(text.lowercased())
            do { address = isNull ? nil : try EmailAddress(text) } catch { throw ValidationError("\(error)") }
        }
    }
}
