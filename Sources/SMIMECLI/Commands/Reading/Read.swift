import ArgumentParser
import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Read: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "read",
            _superCommandName: SMIMECommand.name,
            abstract: "Show a mail for reading, with the verdict on top.",
            discussion: """
                Decrypts, verifies, and shows the text; attachments are listed. Control characters for the terminal \
                are removed. Changes nothing in the store, and asks no service over the network.

                --html writes a page without scripts, links and remote content; only the owner can read the file.

                The status is 0 for valid mail and for mail without a signature, 1 if a signature is not valid, and 65 \
                if the message is malformed.

                  smime read mail.eml | less
                  smime read --html mail.eml -o mail.html
                  macro index,pager S "<pipe-message>smime read | less<enter>"     (in muttrc)
                """
        )

        @Argument(
            help: ArgumentHelp("The message; standard input if it is -.", valueName: "file"),
            completion: .file()
        )
        var file = "-"
        @Flag(help: "Write an HTML page for a browser instead of text.") var html = false
        @Option(
            name: .letter(.output),
            help: ArgumentHelp("Write to this file, which only you can read.", valueName: "file"),
            completion: .file()
        )
        var output: String?
        @Option(name: .customLong("time"), help: .time, transform: TimeOptions.parse) var givenTime: Date?
        @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
        @Option(help: .revocation) var revocation: RevocationPolicy?
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let opening = try global.opening(.readOnly, password: passwords.origin)
            let target = output.flatMap { $0 == "-" ? nil : $0 }
            try OutputCheck(global.location, reading: [file, passwords.passwordFile]).check([target])
            let source = try InputFile.open(file)
            try MessageInput.checkSingle(source, at: file)
            try checkMail(source)
            let opener = MessageOpener(
                StoreKeyProvider(opening, systemAnchors: !noSystemAnchors, warn: Console.warning),
                at: givenTime ?? .now,
                options: ValidationOptions(revocation: revocation ?? .soft)
            )
            let (mail, status, hints): (ReadMail, ExitStatus, [String])
            do { (mail, status, hints) = try await opened(source, by: opener, opening) } catch {
                throw Failure(error, in: InputFile.name(file))
            }
            let text = try html ? mail.page() : shown(mail, isForTerminal: target == nil)
            // The user may close the pager before reading all text.
            try Output.write(to: target, isPrivate: true, isReport: true) { try $0.write(text) }
            hints.forEach(Console.hint)
            guard status == .success else { throw status }
        }

        private func shown(_ mail: ReadMail, isForTerminal: Bool) -> String {
            let text = mail.text(columns: Self.columns)
            return isForTerminal ? Console.painted(mail: text, mail.verdict, on: STDOUT_FILENO) : text
        }

        /// The longest line, in columns: the width of the terminal, or `COLUMNS` if no stream of this process is a
        /// terminal (mail programs set it); at least 24, and at most 80, because longer lines are hard to read.
        private static var columns: Int {
            let widths = [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO].compactMap(Terminal.width)
            let named = ProcessEnvironment["COLUMNS"].flatMap { Int($0) }
            return min(max(widths.first ?? named ?? 80, 24), 80)
        }

        /// The message, opened and with its verdict; the exit status; and what to do about the verdict.
        private func opened(
            _ source: any ByteSource,
            by opener: MessageOpener,
            _ opening: StoreOpening
        ) async throws -> (mail: ReadMail, status: ExitStatus, hints: [String]) {
            let opened: OpenedMessage
            do { opened = try await opener.open(source) } catch let error where Self.isReadable(error) {
                // The message is shown as received, and the verdict says why nothing in it is trusted.
                let report = try await opener.verify(source).report
                let shown = try mail(
                    source,
                    report,
                    context: SignerContext(),
                    inner: report,
                    isEncrypted: report.isEncrypted
                )
                return (shown, report.exitStatus, hints(at: report))
            }
            let shown = try Spool.source { try opened.write(to: $0) }
            // Parts that are signed inside the encryption are judged like the parts of any other message.
            let isDecrypted = opened.report.layers.contains { $0.kind != .signed && !$0.isPart }
            let inner = isDecrypted ? try await opener.verify(shown).report : opened.report
            // A signature over the whole message covers the parts as well, even if other people signed them before.
            let judged = [opened.report] + (opened.report.coversParts ? [] : [inner])
            let worst = judged.filter { !$0.signers.isEmpty || $0.isMalformed }.max { $0.exitStatus < $1.exitStatus }
            let report = worst ?? opened.report
            let context = report.status == .untrusted ? try await opening.store().context(of: report) : .init()
            return (
                try mail(shown, report, context: context, inner: inner, isEncrypted: opened.report.isEncrypted),
                worst?.exitStatus ?? .success, hints(at: report, context)
            )
        }

        /// Rejects a file of keys or certificates, or a bare CMS object, which would be shown as a mail without a header.
        private func checkMail(_ source: any ByteSource) throws {
            let head = try source.bytes(in: 0..<min(source.count, 64))
            guard head.first == 0x30 || head.starts(with: "-----BEGIN ".utf8) else { return }
            let name = file == "-" ? "FILE" : VerdictStep.argument(file)
            throw Failure(
                .badData,
                "\(InputFile.name(file)): not a mail",
                hints: ["to see what is in it: smime inspect \(name)"]
            )
        }

        /// The commands that help with a signature that is not valid; none for standard input, which no command can read
        /// again.
        private func hints(at report: VerificationReport, _ context: SignerContext = SignerContext()) -> [String] {
            guard file != "-", report.isMalformed || !report.signers.isEmpty else { return [] }
            return VerdictSentence(report, file: file, context: context).step?.texts ?? []
        }

        /// Whether a message can be shown although opening failed with `error`.
        private static func isReadable(_ error: any Error) -> Bool {
            switch error {
            case MessageError.malformed, MessageError.defective, MessageError.tooManyLayers: true
            case CMSError.malformed, CMSError.unsupported, CMSError.limitExceeded: true
            default: false
            }
        }

        /// - Parameters:
        ///   - report: the report for the verdict at the top.
        ///   - context: what the store knows about the signer in `report`.
        ///   - inner: the report on the parts that are shown.
        private func mail(
            _ source: any ByteSource,
            _ report: VerificationReport,
            context: SignerContext,
            inner: VerificationReport,
            isEncrypted: Bool
        ) throws -> ReadMail {
            ReadMail(
                try ReadableMessage(source),
                report.readVerdict(isEncrypted: isEncrypted, context),
                signedFields: report.signedFields,
                partVerdicts: report.coversParts ? nil : inner.readPartVerdicts
            )
        }
    }
}
