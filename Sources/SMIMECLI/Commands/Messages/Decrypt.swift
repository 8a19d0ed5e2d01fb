import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Decrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decrypt",
            _superCommandName: SMIMECommand.name,
            abstract: "Decrypt mail, with all its layers of encryption.",
            discussion: """
                Finds the key by the recipients that the message names. Expired identities can still decrypt old mail. \
                Writes nothing before the whole message has been checked. Also verifies the signatures inside. If \
                the whole message is validly signed, stores the sender's certificate, as `smime verify` does. If a signature is \
                not valid, or covers only a part, the mail is written, too, and the status is 1.

                  smime decrypt mail.eml -o plain.eml
                  smime decrypt --with-password secret.eml
                  smime decrypt --assert-signer bob@example.org mail.eml
                """
        )

        @OptionGroup var files: FileOptions
        @OptionGroup(title: "Passwords and secret keys") var secrets: SecretOptions
        @OptionGroup var verification: VerificationOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws { try files.check(json: verification.json) }

        func run() async throws {
            if verification.quiet { Console.silence() }
            let opening = try global.opening(.readOnly, password: secrets.storePassword)
            try OutputCheck(global.location, reading: files.paths + secrets.files).check(files.paths.map(files.target))
            let provider = StoreKeyProvider(opening, systemAnchors: verification.systemAnchors, warn: Console.warning)
            let secret = try secrets.secret(isNew: false)
            let asked = OnlineRevocation(opening, isDemanded: verification.online)
            let opener = MessageOpener(
                provider,
                at: verification.date,
                secret: secret,
                options: verification.validation,
                revocation: asked,
                exceptions: verification.exceptions
            )
            let batch = try Batch(files.paths, files)
            let outcomes = await batch.run { path in
                let opened = try await opened(path, opener)
                // The user may close the pager before reading all text, as with `smime read`.
                try Output.write(to: files.target(for: path), isPrivate: true, isReport: true) {
                    try opened.write(to: $0, lineEnd: files.lineEnd)
                }
                let status = await asked.status(for: opened.report)
                return (
                    (report: opened.report, learnable: opened.learnable),
                    verification.check(opened.report, of: path, opened.report.status == .unsigned ? .success : status)
                )
            }
            try await asked.finish()
            let messages = verification.learns ? outcomes.compactMap { $0.value?.learnable } : []
            // With a shared secret a store is not required; without a store, nothing is learned.
            let teacher =
                messages.isEmpty ? nil : Learning(in: try await batch.store(opening), onChange: verification.onChange)
            let learned = await teacher?.previewForReport(messages) ?? LearningReport()
            for outcome in outcomes {
                guard let report = outcome.value?.report, !verification.quiet else { continue }
                // With a shared secret a store is not required, so the store may be missing.
                let needsStore = report.status == .untrusted
                let context = needsStore ? try await opening.store().context(of: report) : .init()
                describe(report, context, path: outcome.path)
            }
            if verification.json {
                try FileReport.print(
                    outcomes.map { outcome in
                        let name = InputFile.name(outcome.path)
                        let report = outcome.value.map { value in
                            output(value.report, learned.entries(about: value.learnable), file: name)
                        }
                        return (name, report, outcome.failure)
                    }
                )
            }
            if learned.changesStore { await teacher?.learnAndReport(messages) }
            try outcomes.map(\.status).throwWorst()
        }

        private func output(
            _ report: VerificationReport,
            _ learned: [LearningReport.Entry],
            file: String
        ) -> VerificationOutput {
            VerificationOutput(report, learned: learned, assertion: verification.assertion(on: report), file: file)
        }

        /// - Throws: the errors of opening. If the user gave a secret, the hint for `.decryptionFailed` says that the secret
        ///   may be the wrong one.
        private func opened(_ path: String, _ opener: MessageOpener) async throws -> OpenedMessage {
            do { return try await decrypt(path, opener) } catch CMSError.decryptionFailed {
                let failure = Failure(CMSError.decryptionFailed, in: InputFile.name(path))
                let word = secrets.withPassword ? "password" : secrets.secretKeyFile.map { _ in "secret key" }
                let hint = word.map { "this may be the wrong \($0), or the message was changed or cut off" }
                var reported = Failure(
                    failure.status,
                    failure.message,
                    hints: [
                        hint ?? "what this means and what to do: smime explain \(ProblemCode.decryptionFailed.rawValue)"
                    ]
                )
                reported.cause = CMSError.decryptionFailed
                throw reported
            }
        }

        private func decrypt(_ path: String, _ opener: MessageOpener) async throws -> OpenedMessage {
            let source = files.measured(try InputFile.open(path), passes: 2)
            if let object = try verification.object(in: source) {
                do { return try await opener.decrypt(cms: object, in: source) } catch let error as CMSError {
                    if case .malformed = error { try KeyMaterial.reject(in: source, path) }
                    throw error
                }
            }
            try MessageInput.checkSingle(source, at: path)
            do { return try await opener.decrypt(source) } catch MessageError.notEncrypted {
                let failure = Failure(MessageError.notEncrypted, in: InputFile.name(path))
                let hint = "to read it and see its verdict: smime read \(VerdictStep.argument(path))"
                var reported = Failure(failure.status, failure.message, hints: path == "-" ? [] : [hint])
                reported.cause = MessageError.notEncrypted
                throw reported
            }
        }

        /// Describes each layer, the outermost first, and the verdicts on the signatures inside.
        private func describe(_ report: VerificationReport, _ context: SignerContext, path: String) {
            let name = InputFile.name(path)
            let verdict = VerdictSentence(report, file: path == "-" ? nil : path, verb: "decrypt", context: context)
            let taken = "\(Console.rowStart)\(name.escapedForDisplay): ".columnCount
            if verification.verbose {
                Console.note(verdict, file: name)
                let lines = report.lines(below: verdict, details: true, on: STDERR_FILENO, taken: taken)
                for line in lines { Console.row("\(name): \(line)") }
            } else {
                let lines = tree(of: report).lines(on: STDERR_FILENO, taken: taken)
                for line in lines { Console.row("\(name): \(line)") }
                if let headers = report.headers, !headers.hidden.isEmpty {
                    let unsigned = headers.hidden.filter { !headers.signed.contains($0) }
                    let isNoted = report.coverage == .whole && !unsigned.isEmpty
                    let remark = isNoted ? "; not signed: \(unsigned.listedForDisplay)" : ""
                    Console.note("\(name): hidden header fields: \(headers.hidden.listedForDisplay)\(remark)")
                }
                Console.note(verdict, file: name)
                if let line = verdict.axesLine() { Console.row("\(name): \(line)") }
                for problem in verdict.remarks { Console.warning("\(name): \(problem.text) (\(problem.code))") }
            }
            if !report.signers.isEmpty { verdict.step?.texts.forEach(Console.hint) }
        }

        /// The tree of the layers. A single signed layer is left out, because the verdict already describes that layer.
        private func tree(of report: VerificationReport) -> TextTree {
            let isSingle = report.layers.flatMap(\.signers).count == 1
            var tree = TextTree()
            for (level, layer) in VerificationReport.levels(
                of: report.layers.filter { $0.kind != .signed || !isSingle }
            ) {
                for text in texts(of: layer, report) { tree.add(text, level: level) }
            }
            return tree
        }

        /// The description of a layer; a signed layer has a line for each signer.
        private func texts(of layer: VerificationReport.Layer, _ report: VerificationReport) -> [String] {
            guard layer.kind == .signed, !layer.signers.isEmpty else { return [report.text(of: layer)] }
            // If all signatures are inside the encryption, the lines of the signers do not say so.
            let isClear = report.layers.allSatisfy { $0.signers.isEmpty || $0.isInsideEncryption }
            let side = isClear ? nil : report.side(of: layer)
            return layer.signers.map { signer in
                [signer.claim, side, signer.status.rawValue].compactMap(\.self).joined(separator: ", ")
            }
        }
    }
}

extension KeyMaterial {
    /// Rejects a file of keys or certificates where a message is expected. Otherwise the file would be reported as a
    /// damaged message.
    ///
    /// - Parameter path: the file's name on the command line.
    static func reject(in source: any ByteSource, _ path: String) throws {
        guard var bytes = try? InputFile.bytes(of: source, at: path) else { return }
        // `bytes` may contain an unencrypted private key.
        defer { bytes.wipe() }
        guard let items = try? read(bytes), let first = items.first else { return }
        let file = path == "-" ? "FILE" : VerdictStep.argument(path)
        throw Failure(
            .badData,
            "\(InputFile.name(path)): \(items.count == 1 ? first.kind : kinds(of: items)), and not a message",
            hints: ["to see what is in it: smime inspect \(file); to use it: smime import \(file)"]
        )
    }

    /// The kinds of several items in words.
    private static func kinds(of items: [KeyMaterial]) -> String {
        let kinds = Set(items.map(\.kind))
        guard kinds.count == 1, let kind = kinds.first else { return "keys, certificates or revocation lists" }
        return "\(kind.split(separator: " ").dropFirst().joined(separator: " "))s"
    }

    /// The kind of the item in words.
    private var kind: String {
        switch self {
        case .certificate: "a certificate"
        case .certificateList: "a revocation list"
        case .pkcs12: "a PKCS#12 file"
        case .privateKey: "a private key"
        }
    }
}
