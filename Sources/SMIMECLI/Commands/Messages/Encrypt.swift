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
            abstract: "Encrypt mail.",
            discussion: """
                Without --to the recipients are the addresses in To and Cc. If one of them has no usable \
                certificate, nothing is written. The message is also encrypted to the sender, unless the sender's \
                certificate is revoked (a warning says so).

                A Bcc field needs -O DIR. Of NAME.eml, DIR/NAME.eml is for To and Cc, and each Bcc recipient gets a \
                copy of its own, DIR/NAME.bcc1.eml, …, that names no other Bcc recipient. Send it to that address \
                only, as in `sendmail ADDR < FILE`.

                With a shared secret key or password only the recipients in --to need a certificate.

                The header fields are encrypted, too, but also stay readable outside. --header-confidentiality hides \
                some of them (RFC 9788), and `smime account set ADDR --header-confidentiality baseline` does so for \
                all mail of an account.

                  smime encrypt mail.eml -o secret.eml
                  smime encrypt --sign --to bob@example.org < mail.eml | sendmail -t
                  smime encrypt --with-password mail.eml -o secret.eml

                With --outform der or pem any file is encrypted, byte for byte, and not signed:

                  smime encrypt --to bob@example.org --outform der backup.tar -o backup.tar.p7m
                """
        )

        @Option(
            name: [.customShort("r"), .customLong("to")],
            help: ArgumentHelp("Encrypt to this address; may be repeated.", valueName: "addr"),
            completion: CompletedWords.recipients.completion
        )
        var to: [EmailAddress] = []
        @Option(
            help: ArgumentHelp("Encrypt to the certificates in this file without checking them.", valueName: "file"),
            completion: .file()
        )
        var toCert: [String] = []
        @Flag(help: "Sign first. Not possible with --outform der or pem.")
        var sign = false
        @OptionGroup var signing: SigningOptions
        @Flag(help: "Compress the content first.")
        var compress = false
        @OptionGroup(title: "Secrets in place of certificates") var secrets: SecretOptions
        @Option(
            help: """
                The cipher: \(Self.cipherNames). (default: the best one that all recipients announce, else the \
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
            help: "Repeat hidden fields in the text, for readers that cannot show them otherwise."
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
                throw ValidationError("'\(text)' is none of \(cipherNames)")
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
            guard sign || !signing.isSaid else {
                throw ValidationError("--identity, --digest, --opaque and --no-chain need --sign")
            }
            if sign, protection.isBare {
                throw ValidationError(
                    "--sign cannot make a bare CMS object; sign the file first with `smime sign --outform`"
                )
            }
        }

        func run() async throws {
            try TakenPlaces(global.location, reading: files.paths + toCert + secrets.files)
                .check(files.paths.flatMap(targets))
            let opening = try global.opening(.readOnly, password: secrets.storePassword)
            let common = Common(
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

        /// All possible outputs for the input at `path`, including copies for Bcc recipients.
        private func targets(for path: String) -> [String] {
            guard let target = files.target(for: path) else { return [] }
            // Problems of a file are reported when it is encrypted. A pipe can be read only then.
            guard files.outputDir != nil, to.isEmpty, FileIdentity(path) != nil,
                let source = try? InputFile.open(path), let header = try? MIMEReader.message(in: source).header,
                let hidden = try? RecipientPlan.hiddenRecipients(of: header)
            else { return [target] }
            return [target] + hidden.indices.map { RecipientPlan.Copy.path(target, number: $0 + 1) }
        }

        /// The values that are the same for every file.
        struct Common: Sendable {
            let opening: StoreOpening
            /// Certificates to encrypt to that were given as files.
            let extra: [Certificate]
            let secret: SharedSecret?
            let lists: FolderLists
            let asked: OnlineRevocation
        }

        private func encrypt(_ path: String, _ common: Common) async throws -> [EncryptedFile] {
            guard !protection.isBare else { return try await encryptContent(path, common) }
            let opened = try MessageInput.open(path, isText: text, fields: textFields)
            let source = sign ? try signing.withAuthor(opened, named: InputFile.name(path)) : opened
            let author = try MailAuthor(of: MIMEReader.message(in: source).header)?.address
            let store = try await common.opening.store()
            let account = try await store.accounts.summary(of: signing.from ?? author)
            let protector = try await protector(of: source, at: path, by: account, in: store)
            let lookup = try await lookup(common, store)
            let plan = try await plan(common, lookup)
            let copies = try await copies(plan, of: protector.header, by: author, account)
            let signer =
                sign
                ? try await signing.signer(
                    for: protector.header,
                    in: store,
                    at: givenTime ?? .now,
                    under: lookup.options
                )
                : nil
            protector.warnOfUnprotected(InputFile.name(path), isEncrypted: true)
            return try write(copies, of: path, common.secret, hiding: protector.policy.confidentiality) { copy, sink in
                try protector.encrypt(
                    to: copy.negotiation.recipients,
                    secrets: [common.secret].compactMap(\.self),
                    cipher: copy.negotiation.cipher,
                    signedBy: signer.map { ($0, signing.form) },
                    at: .now,
                    to: sink,
                    lineEnd: files.lineEnd
                )
            }
        }

        /// The header fields that plain text gets.
        var textFields: [NewField] {
            signing.fromField + (to.isEmpty ? [] : [NewField("To", to.map(\.text).joined(separator: ", "))])
        }

        /// The copies of a message or file with `header` and their recipients; `author` is its author.
        func copies(
            _ plan: RecipientPlan,
            of header: HeaderBlock,
            by author: EmailAddress?,
            _ account: AccountSummary?
        ) async throws -> [RecipientPlan.Copy] {
            try await plan.copies(
                of: header,
                to: to,
                // A rule for the account counts for its aliases, too.
                from: [signing.from, author, account?.address].compactMap(\.self),
                sender: noSelf ? nil : (signing.from, author)
            )
        }

        /// Writes every copy with `body` to its place.
        ///
        /// - Parameter confidentiality: what the mail hides of its header; nil for a bare CMS object, which has none.
        func write(
            _ copies: [RecipientPlan.Copy],
            of path: String,
            _ secret: SharedSecret?,
            hiding confidentiality: HeaderConfidentiality? = nil,
            _ body: (RecipientPlan.Copy, any ByteSink) throws -> Void
        ) throws -> [EncryptedFile] {
            try copies.map { copy in
                let target = files.target(for: path).map { RecipientPlan.Copy.path($0, number: copy.number) }
                try protection.check(target: target)
                try Output.write(to: target) { try body(copy, $0) }
                if copies.count > 1, let target {
                    let who = copy.addresses.map(\.text).joined(separator: ", ")
                    Console.note("\(target): send it only to \(who)")
                }
                if isatty(STDERR_FILENO) == 1 {
                    EncryptionSummary(copy, secret, hiding: confidentiality).lines.forEach(Console.note)
                }
                return EncryptedFile(target ?? "-", copy, secret)
            }
        }

        /// The message in `source` with its header protection.
        private func protector(
            of source: any ByteSource,
            at path: String,
            by account: AccountSummary?,
            in store: Store
        ) async throws -> MessageProtector {
            var policy = try await protection.headerPolicy(of: account, in: store)
            policy.confidentiality = headerConfidentiality ?? policy.confidentiality
            policy.hasLegacyDisplay = legacyDisplay ?? policy.hasLegacyDisplay
            var protector = try MessageProtector(source, headers: policy)
            protector.compresses = compress
            MessageInput.noteMissingHeader(protector.header, of: path)
            guard files.outputDir == nil, to.isEmpty else { return protector }
            // Some programs write an empty Bcc field into every mail. It names no recipient.
            guard try RecipientPlan.hiddenRecipients(of: protector.header).isEmpty else {
                throw Failure(
                    .usage,
                    "\(InputFile.name(path)): a Bcc field needs --output-dir, for a separate copy for each address"
                )
            }
            return protector
        }

        func lookup(_ common: Common, _ store: Store) async throws -> RecipientLookup {
            try await store.lookup(
                systemAnchors: !noSystemAnchors,
                options: protection.validation,
                lists: common.lists,
                revocation: common.asked
            )
        }

        func plan(_ common: Common, _ lookup: RecipientLookup) async throws -> RecipientPlan {
            RecipientPlan(
                lookup: lookup,
                time: givenTime ?? .now,
                ciphers: try await lookup.store.cipherPreferences(),
                demanded: cipher,
                extra: common.extra,
                hasSecret: common.secret != nil,
                online: common.asked,
                warn: { Console.warning($0.text) }
            )
        }
    }
}
