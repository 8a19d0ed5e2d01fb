import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
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
        transform: EnvelopeSender.init
    )
    var givenSender: EnvelopeSender?
    @Option(help: ArgumentHelp("Take the envelope sender from this environment variable.", valueName: "name"))
    var senderEnv: String?
    @Flag(name: .customLong("stdout"), help: "Write the message to standard output.")
    var standardOutput = false
    @Option(
        help: ArgumentHelp(
            "Pass messages to this program: an absolute path and its arguments, in one word. (default: /usr/sbin/sendmail -G -i)",
            valueName: "path"
        )
    )
    var sendmail: SendmailCommand?
    @Option(
        help: ArgumentHelp(
            "The mail server's name for the message; it prevents a second attempt from sending anything twice.",
            valueName: "id"
        )
    )
    var queueId: String?
    @Option(
        help: ArgumentHelp(
            "The name of this host in Authentication-Results fields. (default: its full name)",
            valueName: "name"
        )
    )
    var authservId: HostName?
    @Flag(help: "Print what would be done, and send nothing.")
    var dryRun = false
    @Flag(help: "With --dry-run: report as one JSON object.")
    var json = false
    @Option(help: "Where to write the log line for each mail: syslog, stderr or none.")
    var log: Setting.LogTarget?
    @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
    @Option(help: .revocation) var revocation: RevocationPolicy?
    @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
    @Option(help: .passwordFd) var passwordFd: Int32?
    @Option(help: .passwordEnv) var passwordEnv: String?
    @OptionGroup var global: GlobalOptions
    @Argument(help: ArgumentHelp("The envelope recipients.", valueName: "rcpt"))
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
            // Other bytes would become another address on their way through a string.
            guard let text = String(validatingCString: value) else {
                throw ValidationError("the variable \(senderEnv) is no UTF-8")
            }
            givenSender = EnvelopeSender(text)
        }
        if standardOutput, sendmail != nil { throw ValidationError("--stdout and --sendmail exclude each other") }
        if json, !dryRun { throw ValidationError("--json goes with --dry-run") }
        if let queueId, queueId.utf8.count > 255 { throw ValidationError("--queue-id is too long") }
    }

    var systemAnchors: Bool { !noSystemAnchors }
    var validation: ValidationOptions { ValidationOptions(revocation: revocation ?? .soft) }
    /// The sender, from one of the two options.
    var sender: EnvelopeSender { givenSender ?? .null }

    /// - Throws: `Failure` with status 67 for addresses that no mail server should get: another attempt would not help.
    private func checkEnvelope() throws {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
        let broken = recipients.filter {
            $0.isEmpty || $0.hasPrefix("-") || $0.unicodeScalars.contains(where: isControl)
        }
        guard broken.isEmpty else { throw Failure(.noUser, "5.1.3 not an address: \(Self.list(broken))") }
        guard !sender.text.hasPrefix("-"), !sender.text.unicodeScalars.contains(where: isControl) else {
            throw Failure(.noUser, "5.1.7 not an address: \(Self.list([sender.text]))")
        }
    }

    /// Addresses as a bounce names them, on one line whatever is in them.
    static func list(_ addresses: [String]) -> String {
        addresses.map { $0.isEmpty ? "''" : $0.escapedForDisplay }.joined(separator: ", ")
    }

    /// The store, by whose setting the log is written where no option says otherwise. One that is not there would let all
    /// mail pass in clear: that is a mistake in the mail server's setup.
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

    /// The sentence for people in a bounce; the standard text if the store cannot be asked.
    private func bounceText() async -> String {
        let store = try? await global.store(.readOnly, password: origin)
        return (try? await store?.bounceText(for: sender.address)) ?? Setting.bounceText.standard
    }

    /// This host's name: from the option, the setting, or the system.
    func host(_ store: Store) async throws -> MailHost {
        if let authservId { return MailHost(name: authservId) }
        return try await store.mailHost()
    }

    /// How the journal knows the message in `source`; nil if the mail server did not name it.
    func entry(_ source: any ByteSource) throws -> DeliveryJournal.Entry? {
        guard let queueId, !standardOutput, !dryRun else { return nil }
        return try Self.entry(source, queueId)
    }

    private static func entry(_ source: any ByteSource, _ queueID: String) throws -> DeliveryJournal.Entry {
        let digest = try SignedDataWriter.digest(.sha256) { try source.reader().copy(to: $0) }
        return DeliveryJournal.Entry(queueID: queueID, digest: digest.0)
    }

    /// Whether a worker died at the message in `source` before; it is remembered that one did now. Where the mail server
    /// has no name for the message it is known by its bytes alone.
    func hasDiedBefore(at source: any ByteSource, _ store: Store) async throws -> Bool {
        let journal = try await Store.open(store.location, mode: .readWrite)
        let isKnown = try await journal.journal.recordDeath(at: Self.entry(source, queueId ?? ""), .now)
        try await journal.close()
        return isKnown
    }

    /// The recipients who do not have the message yet.
    func waiting(_ store: Store, _ entry: DeliveryJournal.Entry?) async throws -> [String] {
        guard let entry else { return recipients }
        return try await store.journal.waiting(recipients, for: entry)
    }

    /// Delivers all of `messages` in the way that the options say.
    ///
    /// - Throws: `Failure` with status 75
    func deliver(
        _ messages: [Delivery.Message],
        _ store: Store,
        _ entry: DeliveryJournal.Entry?,
        _ log: inout FilterLog
    ) async throws {
        let warnings = log.warnings
        guard !standardOutput else {
            guard messages.count == 1, let message = messages.first else {
                throw Failure(.tryAgain, "the recipients need \(messages.count) different messages")
            }
            FilterWorker.noteSending()
            try write(message)
            return FilterWorker.noteSent()
        }
        let setting = try await store.value(of: .sendmail, SendmailCommand.init(parsing:))
        let transport = SendmailTransport(sendmail ?? setting)
        let deliver = Delivery(from: sender.text, messages)
        let next = Warnings()
        defer { log.addDetail("next_queue_id", next.all) }
        do {
            guard let entry else {
                FilterWorker.noteSending()
                try await deliver.run(
                    through: transport,
                    rememberingIn: nil,
                    as: nil,
                    at: .now,
                    named: { next.add($0) }
                )
                return FilterWorker.noteSent()
            }
            // Opened before anything is sent: a journal that cannot be written must not be found out afterwards.
            let journal = try await Store.open(store.location, mode: .readWriteExisting)
            try FilterWorker.detach()
            FilterWorker.noteSending()
            try await deliver.run(
                through: transport,
                rememberingIn: journal,
                as: entry,
                at: .now,
                named: { next.add($0) },
                warn: { warnings.add($0) }
            )
            FilterWorker.noteSent()
        } catch {
            throw Failure(.tryAgain, "cannot send: \(Failure(error).message)")
        }
    }

    /// Writes a message that is all there to standard output.
    private func write(_ message: Delivery.Message) throws {
        let source = try message.file.rewound()
        try Output.write(to: nil) { try source.reader().copy(to: $0) }
        guard close(STDOUT_FILENO) == 0 else {
            throw Failure(.inputOutput, "standard output: cannot close: \(String(cString: strerror(errno)))")
        }
    }
}

extension FilterOptions {
    /// Runs one way of the filter, and writes its line to the log however it ends.
    ///
    /// - Parameter rescue: called instead of `body` if a signal ended the previous worker at this message.
    func run(
        _ direction: String,
        describe: (any Error) -> Failure,
        rescue: (inout FilterLog, Int32) async throws -> Void,
        _ body: (inout FilterLog) async throws -> Void
    ) async throws {
        var line = FilterLog()
        if let log { line.target = log }
        line.add("direction", direction)
        line.add("queue_id", queueId)
        line.add("sender", sender == .null ? "<>" : sender.text)
        do {
            try checkEnvelope()
            if let signal = FilterWorker.rescuedFrom {
                line.warnings.add("the filter died at this message (signal \(signal))")
                try await rescue(&line, signal)
            } else {
                try await body(&line)
            }
            line.warnings.all.forEach(Console.warning)
            line.write(status: dryRun ? "dry-run" : "sent")
        } catch {
            let failure = describe(error)
            let status = FilterStatus.report(failure, sentence: await bounceText())
            // They are in the log; who gets a bounce must not read of files and settings of this machine.
            if status == .tryAgain || FilterStatus.isAtTerminal { line.warnings.all.forEach(Console.warning) }
            line.write(status: status == .tryAgain ? "deferred" : "bounced", failure.message)
            throw FilterStatus.End(status: status)
        }
    }
}
