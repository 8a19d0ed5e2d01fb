import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            _superCommandName: SMIMECommand.name,
            abstract: "Sign mail.",
            discussion: """
                Signs as the account in From. From must be exactly one mailbox. If the certificate does not name its \
                address, recipients reject the signature. --from or --identity selects another account or certificate \
                that names the address; --from also writes a missing From.

                The header fields are signed, too (RFC 9788). Content that mail servers would change is encoded \
                first.

                A certificate that is known to be revoked cannot sign, unless --revocation off skips the check. No \
                service is asked over the network.

                  smime sign mail.eml -o signed.eml
                  smime sign --from alice@example.org < mail.eml | sendmail -t

                With --text the input is the text of a new mail:

                  echo "all is well" | smime sign --text --from alice@example.org \\
                    --to bob@example.com --subject "Backup of tonight" | sendmail -t

                With --outform der or pem any file is signed, byte for byte:

                  smime sign --from alice@example.org --outform der backup.tar -o backup.tar.p7s
                """
        )

        @OptionGroup var signing: SigningOptions
        @Flag(help: "The input is plain text, not a message.")
        var text = false
        @Option(help: ArgumentHelp("With --text: the subject of the message.", valueName: "text"))
        var subject: String?
        @Option(
            help: ArgumentHelp("With --text: a recipient in To; may be repeated.", valueName: "addr"),
            completion: CompletedWords.recipients.completion
        )
        var to: [EmailAddress] = []
        @Flag(help: "Compress the content first. Many mail programs cannot show compressed content.")
        var compress = false
        @OptionGroup var files: FileOptions
        @OptionGroup var protection: ProtectionOptions
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            try files.check(json: report.json)
            if compress, protection.isBare {
                throw ValidationError("--compress cannot make a bare CMS object")
            }
            guard text || subject == nil && to.isEmpty else { throw ValidationError("--subject and --to need --text") }
        }

        func run() async throws {
            let opening = try global.opening(.readOnly, password: passwords.origin)
            let lists = FolderLists(warn: Console.warning)
            try OutputCheck(global.location, reading: files.paths + [passwords.passwordFile])
                .check(files.paths.map(files.target))
            let outcomes = try await Batch(files.paths, files).run { path in
                (try await sign(path, opening, lists: lists), ExitStatus.success)
            }
            if report.json {
                let failed = [FailedFile](outcomes)
                try Report.print(SigningReport(files: outcomes.compactMap(\.value), failed: failed))
            }
            try outcomes.map(\.status).throwWorst()
        }

        private func sign(_ path: String, _ opening: StoreOpening, lists: FolderLists) async throws -> SignedFile {
            guard !protection.isBare else { return try await signContent(path, opening, lists: lists) }
            let opened = try LocatedEntity(reading: MessageInput.open(path, isText: text, fields: textFields))
            let message = files.measured(try signing.withAuthor(opened, named: InputFile.name(path)), passes: 2)
            let store = try await opening.store()
            let policy = try await protection.headerPolicy(ofMailFrom: message.entity.header.senders, in: store)
            var protector = try MessageProtector(message, omitting: [], headers: policy)
            protector.compresses = compress
            MessageInput.noteMissingHeader(protector.header, of: path)
            let signer = try await signer(for: protector.header, in: store, lists)
            let target = files.target(for: path)
            try Output.write(to: target) { sink in
                protector.warnOfUnprotected(InputFile.name(path), isEncrypted: false)
                try protector.sign(by: signer, as: signing.form, at: .now, to: sink, lineEnd: files.lineEnd)
            }
            return SignedFile(target, by: signer, as: signing.form)
        }

        /// The header fields that are added to plain text.
        private var textFields: [NewField] { signing.textFields(to: to, subject: subject) }

        /// Writes a CMS object that signs the file at `path`, without MIME around it.
        private func signContent(_ path: String, _ opening: StoreOpening, lists: FolderLists) async throws
            -> SignedFile
        {
            let content = try protection.content(
                of: path,
                isText: text,
                fields: textFields,
                // If the user names the signer, From is not read.
                readsHeader: signing.from == nil && signing.identity == nil,
                measured: { files.measured($0, passes: signing.opaque ? 2 : 1) }
            )
            let signer = try await signer(for: content.header, isMail: false, in: try await opening.store(), lists)
            let target = files.target(for: path)
            try protection.check(target: target)
            try Output.write(to: target) { sink in
                try protection.write(to: sink) {
                    try content.protector.sign(by: signer, as: signing.form, at: .now, to: $0)
                }
            }
            return SignedFile(target, by: signer, as: signing.form)
        }

        private func signer(
            for header: HeaderBlock?,
            isMail: Bool = true,
            in store: Store,
            _ lists: FolderLists
        ) async throws -> SignedDataWriter.Signer {
            let validation = try await lists.added(to: protection.validation, in: store)
            return try await signing.signer(for: header, isMail: isMail, in: store, at: .now, under: validation)
        }
    }
}
