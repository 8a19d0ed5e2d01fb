import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension SMIMECommand {
    struct Sendmail: AsyncParsableCommand {
        static let name = "sendmail"

        static let configuration = CommandConfiguration(
            commandName: name,
            _superCommandName: SMIMECommand.name,
            abstract: "Apply the policy to a mail, and send it.",
            discussion: """
                For programs that call sendmail: mutt, alpine, mailx, cron, git send-email, PHP. Reads the mail from \
                standard input, applies the policy of its sender as `smime filter outgoing` does, and calls the real \
                sendmail, or msmtp. Mail that cannot be protected as the policy requires is not sent.

                  set sendmail = "/usr/bin/smime sendmail -oem -oi"     (mutt)
                  git config sendemail.sendmailCmd "smime sendmail"     (git send-email)
                  smime sendmail --sendmail "/usr/bin/msmtp -i" -t -i < mail.eml

                These options of sendmail have an effect: -t, -i, -oi, -f ADDR, -r ADDR and -F NAME. Options for \
                delivery, errors and notification (-odb, -oem, -bm, -N …) are accepted and change nothing. Other \
                options are rejected.
                """
        )

        @Option(
            help: ArgumentHelp(
                """
                The program that sends the mail: an absolute path and its arguments, as one quoted argument. (default: \
                the setting filter.sendmail, else /usr/sbin/sendmail -i)
                """,
                valueName: "path"
            )
        )
        var sendmail: SendmailCommand?
        @OptionGroup var levels: LevelOptions
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var global: GlobalOptions
        @Argument(
            help: ArgumentHelp("Recipients, and options of sendmail.", valueName: "rcpt"),
            completion: CompletedWords.recipients.completion
        )
        var words: [String] = []

        func run() async throws {
            let arguments = try SendmailArguments(words, acceptsOwn: false)
            let store = try await global.store(.readOnly, password: passwords.origin)
            guard store.exists else {
                throw Failure(
                    .configuration,
                    "\(store.location.path): there is no store, so no policy says what may be sent in clear",
                    hints: ["import your certificate first: smime import alice.p12"]
                )
            }
            let command = try await command(store)
            for option in Set(arguments.ignored).sorted() {
                Console.warning("the option \(option) is not passed on")
            }
            do {
                let mail = try submitted(arguments)
                try await send(mail, by: GatewayEngine(store, engineOptions), through: command)
            } catch let refusal as GatewayRefusal {
                throw Failure(refusal.exitStatus, refusal.explanation, hints: refusal.hints)
            }
        }

        private var engineOptions: GatewayEngine.Options {
            var options = GatewayEngine.Options()
            options.levels = levels.request
            // Spools to a file from the first byte, so that a full disk is noticed before the first message is sent.
            options.memoryLimit = 0
            options.hints = { Failure($0).hints }
            return options
        }

        /// The mail on standard input.
        private func submitted(_ arguments: SendmailArguments) throws -> SubmittedMail {
            let source: any ByteSource
            do {
                let input = try InputFile.standardInput()
                source = arguments.passesLoneDots ? input : try LoneDot.truncated(input)
            } catch let error as StreamError where error.isShortage {
                throw Failure(.tryAgain, "\(error)")
            }
            let domain = MailDomain.current
            return try SubmittedMail(
                source,
                to: arguments.recipients,
                readsHeader: arguments.readsHeader,
                from: arguments.sender.map(EnvelopeSender.init),
                named: arguments.name,
                user: SystemUser(id: getuid())?.name ?? "nobody",
                AddressQualifier(domain: domain)
            )
        }

        private func send(
            _ mail: SubmittedMail,
            by engine: GatewayEngine,
            through command: SendmailCommand
        ) async throws {
            let result = await engine.handle(
                GatewayMail(.outgoing, mail.source, from: mail.sender, to: mail.recipients)
            )
            result.warnings.forEach(Console.warning)
            let processed: ProcessedMail
            switch result.outcome {
            case .finished(let value): processed = value
            case .refused(let refusal): throw refusal
            case .sentBefore: return
            }
            let transport = SendmailTransport(command)
            do { try await processed.delivery.runOnce(through: transport) } catch let error as UnfinishedDelivery {
                // Status 75 would be wrong: programs would try again with all recipients.
                throw Failure(
                    .unavailable,
                    "\(error)",
                    hints: ["send the mail again to these alone: \(error.unserved.joined(separator: " "))"]
                )
            } catch {
                throw Self.failure(unsent: error, by: command)
            }
            await engine.keepAnswers(of: processed).forEach(Console.warning)
        }

        /// The failure if the program that sends did not accept the mail.
        ///
        /// A status of sysexits(3) and all that the program printed are passed on: the caller would get them from sendmail,
        /// too, and may try again only after 75. After any other end the status is 75, because a later attempt may succeed.
        private static func failure(unsent error: any Error, by command: SendmailCommand) -> Failure {
            let refusal = GatewayRefusal(undelivered: error)
            let said = error as? TransportError
            let status = said?.status.flatMap { ExitStatus(rawValue: $0) }.flatMap { $0 < .usage ? nil : $0 }
            let hint = "name the program that sends: smime config set filter.sendmail '/usr/bin/msmtp -i'"
            let hints = refusal.hints + (access(command.program, X_OK) == 0 ? [] : [hint])
            guard let said, said.output.count > 1, let ending = said.status else {
                return Failure(status ?? refusal.exitStatus, refusal.explanation, hints: hints)
            }
            said.output.forEach(Console.plain)
            return Failure(
                status ?? refusal.exitStatus,
                "cannot send: \(command.program): status \(ending)",
                hints: hints
            )
        }

        /// The program that sends the mail. It must not be this program.
        private func command(_ store: Store) async throws -> SendmailCommand {
            let set = try await store.value(of: .sendmail, SendmailCommand.init(parsing:))
            // -G is for mail from another host, but this mail is submitted on this host.
            let standard = SendmailCommand(arguments: ["-i"])
            let command = sendmail ?? (set == SendmailCommand() ? standard : set)
            guard !SendmailLoop.isRunning, FileIdentity(command.program) != FileIdentity("/proc/self/exe") else {
                throw Failure(
                    .configuration,
                    "\(command.program): this program leads back to smime sendmail, which would call itself forever",
                    hints: ["name the program that sends: smime config set filter.sendmail '/usr/sbin/sendmail -i'"]
                )
            }
            return command
        }
    }
}

/// The end of a message at a line with a single dot, as in sendmail without `-i`.
enum LoneDot {
    /// `source` up to the first line with a single dot; `source` itself if there is no such line.
    static func truncated(_ source: any ByteSource) throws -> any ByteSource {
        let window = Window()
        let reader = source.reader()
        /// The bytes of the current line. Only the first three are needed.
        var line: [UInt8] = []
        var (position, start) = (0, 0)
        while case let count = try window.fill(from: reader), count > 0 {
            let bytes = window.prefix(count)
            for index in bytes.indices {
                let byte = bytes[index]
                position += 1
                guard byte == UInt8(ascii: "\n") else {
                    if line.count < 3 { line.append(byte) }
                    continue
                }
                if line == Array(".".utf8) || line == Array(".\r".utf8) {
                    return try Spool.source { try source.reader(in: 0..<start).copy(to: $0) }
                }
                (line, start) = ([], position)
            }
        }
        return line == Array(".".utf8) ? try Spool.source { try source.reader(in: 0..<start).copy(to: $0) } : source
    }
}
