import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

/// The options of both directions of `filter`.
struct FilterOptions: ParsableArguments, PassphraseOptions {
    @Option(
        name: .customLong("sender"),
        help: ArgumentHelp("The envelope sender; empty or MAILER-DAEMON for bounces.", valueName: "addr"),
        completion: CompletedWords.accounts.completion,
        transform: EnvelopeSender.init
    )
    var givenSender: EnvelopeSender?
    @Option(help: ArgumentHelp("Take the envelope sender from this environment variable.", valueName: "name"))
    var senderEnv: String?
    @Flag(name: .customLong("stdout"), help: "Write the message to standard output.")
    var standardOutput = false
    @Option(
        help: ArgumentHelp(
            """
            The program that sends the mail: an absolute path and its arguments, as one quoted argument. (default: the \
            setting filter.sendmail)
            """,
            valueName: "path"
        )
    )
    var sendmail: SendmailCommand?
    @Option(
        help: ArgumentHelp(
            "The mail server's ID of the message. With an ID, a second attempt sends nothing twice.",
            valueName: "id"
        )
    )
    var queueId: String?
    @Option(
        help: ArgumentHelp(
            "This host's name in Authentication-Results fields. (default: the setting filter.authserv-id)",
            valueName: "name"
        )
    )
    var authservId: HostName?
    @Flag(help: "Print what would be done, and send nothing.")
    var dryRun = false
    @Flag(help: "With --dry-run: report as one JSON object.")
    var json = false
    @Option(
        help: "Where to log each mail. (default: the setting filter.log)"
    )
    var log: Setting.LogTarget?
    @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
    @Option(help: .revocation) var revocation: RevocationPolicy?
    @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
    @Option(help: .passwordFd) var passwordFd: Int32?
    @Option(help: .passwordEnv) var passwordEnv: String?
    @OptionGroup var global: GlobalOptions
    @Argument(
        help: ArgumentHelp("The envelope recipients.", valueName: "rcpt"),
        completion: CompletedWords.recipients.completion
    )
    var recipients: [String]

    mutating func validate() throws {
        try origin.validate()
        guard (givenSender == nil) != (senderEnv == nil) else {
            throw ValidationError("name the sender: --sender ADDR, or --sender-env NAME")
        }
        if let senderEnv {
            guard let value = getenv(senderEnv) else {
                throw ValidationError("--sender-env \(senderEnv): no such variable")
            }
            // A Swift string would replace bytes that are not UTF-8, and so change the address.
            guard let text = String(validatingCString: value) else {
                throw ValidationError("the variable \(senderEnv) is not UTF-8")
            }
            givenSender = EnvelopeSender(text)
        }
        if standardOutput, sendmail != nil { throw ValidationError("--stdout and --sendmail exclude each other") }
        if json, !dryRun { throw ValidationError("--json requires --dry-run") }
        if let queueId, queueId.utf8.count > 255 { throw ValidationError("--queue-id is too long") }
    }

    /// The envelope sender, from one of the two options.
    var sender: EnvelopeSender { givenSender ?? .null }

    /// The engine's options that do not depend on the direction.
    var engineOptions: GatewayEngine.Options {
        var options = GatewayEngine.Options()
        options.systemAnchors = !noSystemAnchors
        options.validation = ValidationOptions(revocation: revocation ?? .soft)
        options.host = authservId.map { MailHost(name: $0) }
        // Spools to a file from the first byte, so that a full disk is noticed before the first message is sent.
        options.memoryLimit = 0
        options.hints = { Failure($0).hints }
        return options
    }

    /// The store. If no option names the target of the log, a setting of the store does. A missing store is an error in the
    /// mail server's configuration: without rules, all mail would be sent unencrypted.
    func store(_ line: inout FilterLog) async throws -> Store {
        let store = try await global.store(.readOnly, password: origin)
        guard store.exists else {
            throw Failure(
                .configuration,
                "\(store.location.path): there is no store",
                hints: [Failure.bringBack, "if it is elsewhere, name it with --home"]
            )
        }
        if log == nil { line.target = try await store.value(of: .filterLog, Setting.LogTarget.init(rawValue:)) }
        return store
    }

    /// The sentence for readers of bounces; the standard text if the store cannot be read.
    func bounceText() async -> String {
        guard let store = try? await global.store(.readOnly, password: origin) else {
            return Setting.bounceText.standard
        }
        return await GatewayEngine(store).bounceText(for: sender)
    }

    /// The mail in `source`. If `--queue-id` names the mail, its deliveries are recorded, except with `--stdout` or
    /// `--dry-run`.
    func mail(_ role: GatewayRole, _ source: any ByteSource) throws -> GatewayMail {
        var entry: DeliveryJournal.Entry?
        if let queueId, !standardOutput, !dryRun { entry = try DeliveryJournal.Entry(queueID: queueId, of: source) }
        return GatewayMail(role, source, from: sender, to: recipients, entry: entry)
    }

    /// Sends the messages of `delivery` in the way that the options name.
    ///
    /// - Throws: `GatewayRefusal`; the errors of reading the settings; `Failure` if `--stdout` is given, and the recipients
    ///   need different messages or standard output cannot be written.
    func deliver(
        _ delivery: Delivery,
        _ store: Store,
        entry: DeliveryJournal.Entry?,
        log: inout FilterLog
    ) async throws {
        let warnings = log.warnings
        guard !standardOutput else {
            guard delivery.messages.count == 1, let message = delivery.messages.first else {
                throw Failure(.tryAgain, "the recipients need \(delivery.messages.count) different messages")
            }
            FilterWorker.noteSending()
            try write(message)
            return FilterWorker.noteSent()
        }
        let setting = try await store.value(of: .sendmail, SendmailCommand.init(parsing:))
        let transport = SendmailTransport(sendmail ?? setting)
        let queueIDs = WarningList()
        defer { log.addDetail("next_queue_id", queueIDs.all) }
        do {
            guard let entry else {
                FilterWorker.noteSending()
                try await delivery.run(
                    through: transport,
                    rememberingIn: nil,
                    as: nil,
                    at: .now,
                    named: { queueIDs.add($0) }
                )
                return FilterWorker.noteSent()
            }
            // The journal is opened before anything is sent, so that an unwritable journal is noticed in time.
            let journal = try await Store.open(store.location, mode: .readWriteExisting)
            try FilterWorker.detach()
            FilterWorker.noteSending()
            try await delivery.run(
                through: transport,
                rememberingIn: journal,
                as: entry,
                at: .now,
                named: { queueIDs.add($0) },
                warn: { warnings.add($0) }
            )
            FilterWorker.noteSent()
        } catch {
            throw GatewayRefusal(undelivered: error)
        }
    }

    /// Writes a complete message to standard output.
    private func write(_ message: Delivery.Message) throws {
        try Output.write(to: nil) { try message.content.reader().copy(to: $0) }
        guard close(STDOUT_FILENO) == 0 else {
            throw Failure(.inputOutput, "standard output: cannot close: \(String(cString: strerror(errno)))")
        }
    }
}
