import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Encrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encrypt",
            _superCommandName: SMIMECommand.name,
            abstract: "Encrypt mail for the recipients in To and Cc.",
            discussion: """
                Without --to the recipients are the addresses in To and Cc, or in Resent-To and Resent-Cc of a \
                resent message. If one of them has no usable certificate, nothing is written. If possible, the message is \
                also encrypted to the sender; otherwise a warning says so.

                Without --to, a Bcc field needs -O DIR. The output for NAME.eml is DIR/NAME.eml for the recipients in To and Cc, and \
                DIR/NAME.bcc1.eml, … for each Bcc recipient; these files name no other Bcc recipient. Send each one to \
                its recipient only, as in `sendmail ADDR < FILE`.

                With a shared secret key or password only the recipients in --to need a certificate.

                The header fields are encrypted, too, but the outer header still shows them. --header-confidentiality \
                hides some fields in the outer header (RFC 9788). `smime account set ADDR --header-confidentiality \
                baseline` hides them for all mail of an account.

                  smime encrypt mail.eml -o secret.eml
                  smime encrypt --sign --to bob@example.org < mail.eml | sendmail -t
                  smime encrypt --with-password mail.eml -o secret.eml

                With --outform der or pem any file is encrypted, byte for byte, and not signed:

                  smime encrypt --to bob@example.org --outform der backup.tar -o backup.tar.p7m
                """
        )

        @Option(
            name: .letter(.to),
            help: ArgumentHelp(
                "Encrypt to this address; may be repeated.",
                valueName: "addr"
            ),
            completion: CompletedWords.recipients.completion
        )
        var to: [EmailAddress] = []
        @Option(
            help: ArgumentHelp(
                "Also encrypt to the certificates in this file, without checking them; may be repeated.",
                valueName: "file"
            ),
            completion: .file()
        )
        var toCert: [String] = []
        @Flag(help: "Sign first. Not possible with --outform der or pem.")
        var sign = false
        @OptionGroup var signing: SigningOptions
        @Flag(help: "Compress the content first. Many mail programs cannot show compressed content.")
        var compress = false
        @OptionGroup(title: "Passwords and secret keys") var secrets: SecretOptions
        @Option(
            help: """
                The cipher: \(Self.cipherNames). (default: the best cipher that all recipients announce, else the \
                setting encryption.unknown)
                """,
            completion: .list(ContentCipher.writable.map(\.name)),
            transform: Self.parseCipher
        )
        var cipher: ContentCipher?
        @Flag(name: .customLong("no-self"), help: "Do not encrypt to the sender.")
        var noSelf = false
        @Flag(help: "The input is plain text, not a message.")
        var text = false
        @Option(help: ArgumentHelp("With --text: the subject of the message.", valueName: "text"))
        var subject: String?
        @OptionGroup var files: FileOptions
        @OptionGroup var protection: ProtectionOptions
        @Option(
            help: ArgumentHelp(
                """
                Header fields to hide: none; baseline hides subject, comments and keywords; shy also hides names and \
                time zone. (default: the account's setting)
                """,
                valueName: "policy"
            )
        )
        var headerConfidentiality: HeaderConfidentiality?
        @Flag(
            inversion: .prefixedNo,
            help: "Repeat hidden fields in the text, for mail programs that cannot decrypt header fields."
        )
        var legacyDisplay: Bool?
        @Option(name: .customLong("time"), help: .time, transform: TimeOptions.parse) var givenTime: Date?
        @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
        @Flag(help: .online) var online = false
        @Flag(help: .json) var json = false
        @OptionGroup var global: GlobalOptions

        private static func parseCipher(_ text: String) throws -> ContentCipher {
            // openssl and mutt know the CBC ciphers by these names.
            let names = ["aes128": "aes-128-cbc", "aes192": "aes-192-cbc", "aes256": "aes-256-cbc"]
            guard let cipher = ContentCipher(writable: names[text] ?? text) else {
                throw ValidationError("'\(text)' is not a known cipher; choose one of \(cipherNames)")
            }
            return cipher
        }

        private static let cipherNames = ContentCipher.writable.dropFirst().reduce(ContentCipher.writable[0].name) {
            "\($0), \($1.name)"
        }

        func validate() throws {
            try files.check(json: json)
            if protection.noHeaderProtection, headerConfidentiality != nil || legacyDisplay == true {
                throw ValidationError("--no-header-protection leaves nothing to hide")
            }
            if compress, protection.isBare {
                throw ValidationError("--compress cannot make a bare CMS object")
            }
            guard text || subject == nil else { throw ValidationError("--subject needs --text") }
            guard sign || !signing.isGiven else {
                throw ValidationError("--identity, --digest, --opaque and --no-chain need --sign")
            }
            if sign, protection.isBare {
                throw ValidationError(
                    "--sign cannot make a bare CMS object; sign the file first with `smime sign --outform`"
                )
            }
        }

        func run() async throws {
            try OutputCheck(global.location, reading: files.paths + toCert + secrets.files)
                .check(files.paths.flatMap(targets))
            let opening = try global.opening(.readOnly, password: secrets.storePassword)
            let common = EncryptionContext(
                opening: opening,
                extra: try Certificate.unchecked(from: toCert),
                secret: try secrets.secret(isNew: true),
                lists: FolderLists(warn: Console.warning),
                asked: OnlineRevocation(opening, isDemanded: online)
            )
            let outcomes = try await Batch(files.paths, files).run { path in
                (try await encrypt(path, common), ExitStatus.success)
            }
            try await common.asked.finish()
            let written = outcomes.compactMap(\.value).flatMap(\.self)
            if json { try Report.print(EncryptionReport(written, failed: [FailedFile](outcomes))) }
            try outcomes.map(\.status).throwWorst()
        }

        /// All outputs that may be written for the input at `path`, including copies for Bcc recipients.
        private func targets(for path: String) -> [String] {
            guard let target = files.target(for: path) else { return [] }
            // Problems of the input are reported later, when it is encrypted. A pipe can be read only once, so it is not read
            // here.
            guard files.outputDir != nil, to.isEmpty, FileIdentity(path) != nil,
                let source = try? InputFile.open(path), let header = try? HeaderBlock(ofMessageIn: source),
                let hidden = try? RecipientPlan.hiddenRecipients(of: header)
            else { return [target] }
            return [target] + hidden.indices.map { RecipientPlan.Copy.path(target, number: $0 + 1) }
        }
    }
}

extension SMIMECommand.Encrypt {
    /// Writes a CMS object with the content of the file at `path`, without MIME around it.
    func encryptContent(_ path: String, _ common: EncryptionContext) async throws -> [EncryptedFile] {
        let content = try protection.content(
            of: path,
            isText: text,
            fields: textFields,
            readsHeader: to.isEmpty || signing.from == nil,
            measured: { files.measured($0, passes: 1) }
        )
        // The author is the first address in From. A file need not have an author.
        let author = content.header.flatMap { try? MailAuthor(of: $0)?.address }
        try checkHiddenRecipients(content.header, of: path, common)
        let store = try await common.opening.store()
        let account = try await store.accounts.summary(of: signing.from ?? author)
        let header = try content.header ?? HeaderBlock(parsing: [])
        let copies = try await copies(plan(common, lookup(common, store)), of: header, by: author, account)
        return try write(copies, of: path, common.secret) { copy, sink in
            try protection.write(to: sink) {
                try content.protector.encrypt(
                    to: copy.negotiation.recipients,
                    secrets: [common.secret].compactMap(\.self),
                    cipher: copy.negotiation.cipher,
                    to: $0
                )
            }
        }
    }

    /// Rejects mail with a Bcc field, because every recipient could read that field. With `--to` or a secret, such mail
    /// is accepted.
    private func checkHiddenRecipients(_ header: HeaderBlock?, of path: String, _ common: EncryptionContext) throws {
        guard to.isEmpty, common.secret == nil, let header,
            header.fields.contains(where: { $0.namesHiddenRecipients && !$0.value.isEmpty })
        else { return }
        throw Failure(
            .usage,
            "\(InputFile.name(path)): a bare CMS object keeps the Bcc field, so every recipient could read it",
            hints: ["name the recipients with --to, or leave out --outform to make a mail"]
        )
    }
}
