import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            _superCommandName: SMIMECommand.name,
            abstract: "Check who signed a mail, and that it is unchanged.",
            discussion: """
                Prints the verdict on the signature in one sentence. The line below it says whether the content is \
                unchanged and signed by the sender in From, and whether the certificate is trusted, not revoked, and \
                in time (not expired); -v shows the details. If the verdict is not valid, also prints the command that \
                helps. The exit status is 0 if and only if the verdict is valid; with \
                --assert-signer, if that signer validly signed the whole message. From valid mail the sender's \
                certificate is stored, so that an answer can be encrypted, unless --time or --no-harvest is given.

                Revocation is judged by the revocation lists and OCSP responses in the store. --online also asks the \
                services that the certificates name. These services then learn that the mail was read.

                For several files --json prints one object, whose member `files` has a report for each file, in order.

                  smime verify mail.eml
                  smime verify --online --revocation hard mail.eml
                  smime verify --json --assert-signer alice@example.org mail.eml
                """
        )

        @OptionGroup var input: InputOptions
        @Option(
            help: ArgumentHelp("Write the signed content to this file if it is unchanged.", valueName: "file"),
            completion: .file()
        )
        var content: String?
        @Option(
            name: .letter(.detachedSignature),
            help: ArgumentHelp("Check this DER or PEM signature over FILE, byte for byte.", valueName: "file"),
            completion: .file()
        )
        var detachedSignature: String?
        @Flag(help: "With -b: FILE is mail content, and was signed with CRLF line ends.")
        var canonical = false
        @OptionGroup var verification: VerificationOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if input.paths.count > 1, content != nil || detachedSignature != nil {
                throw ValidationError("--content and --detached-signature allow only one input")
            }
            if verification.json, let content, Output.isStandard(content) {
                throw ValidationError("--json needs a file for --content")
            }
        }

        /// A verified input.
        private struct Checked: Sendable {
            let content: VerifiedContent
            /// A command that helps better than the verdict's own; nil if there is none.
            var step: VerdictStep?
        }

        func run() async throws {
            if verification.quiet { Console.silence() }
            let opening = try global.opening(.readOnly)
            try OutputCheck(global.location, reading: input.paths + [detachedSignature]).check([content])
            let provider = StoreKeyProvider(opening, systemAnchors: verification.systemAnchors, warn: Console.warning)
            let asked = OnlineRevocation(opening, isDemanded: verification.online)
            let opener = MessageOpener(
                provider,
                at: verification.date,
                options: verification.validation,
                revocation: asked,
                exceptions: verification.exceptions
            )
            let batch = try Batch(input.paths)
            let outcomes = await batch.run { path in
                let result = try await verify(path, opener)
                let report = result.content.report
                try writeContent(of: result.content)
                let status = await asked.status(for: report)
                return (result, verification.check(report, of: path, status))
            }
            try await asked.finish()
            let learning = Learning(in: try await batch.store(opening), onChange: verification.onChange)
            let messages = verification.learns ? outcomes.compactMap { $0.value?.content.learnable } : []
            let learned = await learning.previewForReport(messages)
            try await print(outcomes, learned, in: opening)
            if learned.changesStore { await learning.learnAndReport(messages) }
            try outcomes.map(\.status).throwWorst()
        }

        private func print(
            _ outcomes: [Batch.Outcome<Checked>],
            _ learned: LearningReport,
            in opening: StoreOpening
        ) async throws {
            guard verification.json else {
                for outcome in outcomes where !verification.quiet {
                    guard let checked = outcome.value else { continue }
                    let context = try await opening.store().context(of: checked.content.report)
                    try tell(checked, context, of: outcome.path, isAlone: outcomes.count == 1)
                }
                return
            }
            try FileReport.print(
                outcomes.map { outcome in
                    let file = InputFile.name(outcome.path)
                    return (file, outcome.value.map { output($0.content, learned, file: file) }, outcome.failure)
                }
            )
        }

        /// Prints the verdict, and what to do if it is not valid.
        private func tell(
            _ checked: Checked,
            _ context: SignerContext,
            of path: String,
            isAlone: Bool
        ) throws {
            let report = checked.content.report
            let file = path == "-" || detachedSignature != nil ? nil : path
            let verdict = VerdictSentence(report, file: file, context: context)
            if content == "-" {
                // The content is written to standard output, so the verdict goes to standard error.
                Console.note(verdict, file: InputFile.name(path))
                let taken = Console.rowStart.columnCount
                report.lines(below: verdict, details: verification.verbose, on: STDERR_FILENO, taken: taken)
                    .forEach(Console.row)
            } else {
                let name = isAlone ? nil : InputFile.name(path)
                let lines = report.lines(below: verdict, details: verification.verbose)
                try Console.print(verdict, file: name, lines: lines)
            }
            (checked.step ?? verdict.step)?.texts.forEach(Console.hint)
        }

        private func output(
            _ content: VerifiedContent,
            _ learned: LearningReport,
            file: String
        ) -> VerificationOutput {
            VerificationOutput(
                content.report,
                learned: learned.entries(about: content.learnable),
                assertion: verification.assertion(on: content.report),
                file: file
            )
        }

        private func verify(_ path: String, _ opener: MessageOpener) async throws -> Checked {
            let opened = try InputFile.open(path)
            let source = input.measured(opened, passes: passes(over: opened))
            if let detachedSignature {
                let signature = try InputFile.signature(detachedSignature)
                let object = try verification.object(in: signature) ?? signature.stream()
                let content = try await opener.verify(cms: object, detached: source, isMail: canonical)
                guard content.report.isContentChanged else { return Checked(content: content) }
                let other = try await opener.verify(cms: object, detached: source, isMail: !canonical)
                let step =
                    other.report.isContentChanged ? nil : stepForOtherLineEnds(of: path, signature: detachedSignature)
                return Checked(content: content, step: step)
            }
            if let object = try verification.object(in: source) {
                let surroundings = try verification.surroundings(in: source)
                let content = try await opener.verify(cms: object, detached: nil, surroundings: surroundings)
                if content.report.isMalformed { try KeyMaterial.reject(in: opened, path) }
                let step = content.report.undecrypted.map { _ in decryption(of: path) }
                return Checked(content: content, step: step)
            }
            try MessageInput.checkSingle(source, at: path)
            let content = try await opener.verify(source)
            if content.report.isMalformed { try KeyMaterial.reject(in: opened, path) }
            return Checked(content: content)
        }

        /// The command for a bare encrypted object, which `smime read` does not accept.
        private func decryption(of path: String) -> VerdictStep {
            let file = path == "-" ? "FILE" : VerdictStep.argument(path)
            return VerdictStep(reason: "to decrypt it and check it", command: "smime decrypt \(file)")
        }

        /// How many times `source` is read. If mail has its content beside the signature, the content is first located and
        /// then hashed.
        private func passes(over source: any ByteSource) -> Int {
            guard detachedSignature == nil, let entity = try? MIMEReader.message(in: source) else { return 1 }
            return entity.contentType.name == "multipart/signed" ? 2 : 1
        }

        /// The command for a signature that matches the content only if `--canonical` is added or left out.
        private func stepForOtherLineEnds(of path: String, signature: String) -> VerdictStep {
            let files = "-b \(VerdictStep.argument(signature)) \(path == "-" ? "FILE" : VerdictStep.argument(path))"
            return canonical
                ? VerdictStep(
                    reason: "the signature covers the exact bytes of the file",
                    command: "smime verify \(files)"
                )
                : VerdictStep(
                    reason: "the signature covers the file with CRLF line ends, as mail is signed",
                    command: "smime verify --canonical \(files)"
                )
        }

        private func writeContent(of result: VerifiedContent) throws {
            guard let content else { return }
            let spool = Spool()
            guard try result.writeContent(to: spool) else {
                return Console.warning(
                    "\(content): not written, because nothing shows that the content is what was signed"
                )
            }
            let source = try spool.finish()
            try Output.write(to: content == "-" ? nil : content) { try source.reader().copy(to: $0) }
        }
    }
}

extension VerificationReport {
    /// Whether there are signatures, and none of them matches the content.
    fileprivate var isContentChanged: Bool {
        !signers.isEmpty && signers.allSatisfy(\.isContentChanged)
    }

    /// The exit status of a command with this report.
    var exitStatus: ExitStatus {
        switch status {
        case .valid: .success
        case .malformed: .badData
        case .expired, .invalid, .mismatch, .notYetValid, .partial, .revoked, .unsigned, .untrusted, .weak:
            .negative
        }
    }
}

extension VerificationOptions {
    /// The result of checking `--assert-signer`; nil if the option is not given.
    func assertion(on report: VerificationReport) -> VerificationOutput.Assertion? {
        assertSigner.map { .init(signer: $0, ok: AssertedSigner($0).map(report.isSigned) ?? false) }
    }

    /// The exit status for a report. Without `--assert-signer`, this is `status`. With that option, the assertion
    /// decides in place of status 1 for a negative verdict; other statuses remain. A failed assertion is printed as an
    /// error.
    func check(_ report: VerificationReport, of path: String, _ status: ExitStatus) -> ExitStatus {
        guard let assertion = assertion(on: report) else { return status }
        let verdict = report.status == .valid ? nil : "the verdict on the message is \(report.status.rawValue)"
        let (file, signer) = (InputFile.name(path), assertion.signer)
        guard assertion.ok else {
            if !quiet {
                Console.error("\(file): not validly signed by \(signer)\(verdict.map { "; \($0)" } ?? "")")
            }
            return max(status, .negative)
        }
        if let verdict {
            let isName = report.signers.allSatisfy(\.isGoodExceptDisplayName)
            let why = isName ? "because the name in From shows another address" : "for another signature in it"
            Console.warning("\(file): signed by \(signer), but \(verdict), \(why)")
        }
        return status == .negative ? .success : status
    }
}
