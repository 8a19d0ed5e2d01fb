import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME
import Streams

extension SMIMECommand {
    struct Encrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encrypt",
            abstract: "Encrypt mail.",
            discussion: """
                Without --to the recipients are those of To and Cc. All of them can read it, or nothing is written. The \
                sender can read it, too. A Bcc field needs -O: beside NAME.eml for To and Cc each Bcc recipient gets a copy \
                NAME.bcc1.eml, …, that names nobody else; send it to that address only, as in `sendmail ADDR < FILE`.

                  smime encrypt mail.eml -o secret.eml
                  smime encrypt --sign --to bob@example.org < mail.eml | sendmail -t
                """
        )

        @OptionGroup var input: InputOptions
        @Option(
            name: [.customShort("r"), .customLong("to")],
            help: ArgumentHelp("Encrypt to this address; may be repeated.", valueName: "addr")
        )
        var to: [EmailAddress] = []
        @Option(
            help: ArgumentHelp("Encrypt to the certificates in this file, unchecked.", valueName: "file"),
            completion: .file()
        )
        var toCert: [String] = []
        @Flag(help: "Sign first.")
        var sign = false
        @OptionGroup var signing: SigningOptions
        @Option(
            help: """
                The cipher: aes-256-gcm, aes-128-gcm, aes-256-cbc or aes-128-cbc. With CBC, for old readers, RSA keys are \
                wrapped in the older way, too.
                """,
            transform: Self.parseCipher
        )
        var cipher = ContentCipher.aes256GCM
        @Flag(name: .customLong("no-self"), help: "Do not encrypt to the sender.")
        var noSelf = false
        @Flag(help: "The input is plain text, not a message.")
        var text = false
        @OptionGroup var output: OutputOptions
        @OptionGroup var object: ObjectOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        private static func parseCipher(_ text: String) throws -> ContentCipher {
            guard let cipher = ContentCipher(writable: text) else {
                throw ValidationError("'\(text)' is none of aes-256-gcm, aes-128-gcm, aes-256-cbc and aes-128-cbc")
            }
            return cipher
        }

        func validate() throws {
            try output.validate(with: input, report)
            if sign, object.outform != .mime { throw ValidationError("--sign makes a mail, not a bare CMS object") }
        }

        func run() async throws {
            let store = try await global.store(.readOnly)
            let extra = try Certificate.unchecked(from: toCert)
            let outcomes = try await Batch(input.paths, output).run { path in
                (try await encrypt(path, extra, store), ExitStatus.success)
            }
            let files = outcomes.compactMap(\.value).flatMap(\.self)
            if report.json, !files.isEmpty { try Report.print(EncryptionReport(cipher: cipher.name, files: files)) }
            try outcomes.map(\.status).throwWorst()
        }

        private func encrypt(_ path: String, _ extra: [Certificate], _ store: Store) async throws -> [EncryptedFile] {
            let recipients = to.map(\.text).joined(separator: ", ")
            let fields =
                (signing.from.map { [NewField("From", $0.text)] } ?? [])
                + (to.isEmpty ? [] : [NewField("To", recipients)])
            let source = try MessageInput.open(path, isText: text, fields: fields)
            let protector = try MessageProtector(source, omitting: ["Bcc"])
            guard output.outputDir != nil || !to.isEmpty || protector.header.first("Bcc") == nil else {
                throw Failure(
                    .usage,
                    "\(InputFile.name(path)): a Bcc field needs --output-dir, for a copy of its own for each of them"
                )
            }
            let plan = RecipientPlan(
                store: store,
                time: times.date,
                systemAnchors: anchors.systemAnchors,
                wrapping: cipher.isAuthenticated ? .oaep : .pkcs1,
                extra: extra
            )
            let copies = try await plan.copies(
                of: protector.header,
                to: to,
                sender: noSelf ? nil : (signing.from, try Sender(of: protector.header)?.address)
            )
            let signer = sign ? try await signing.signer(for: protector.header, in: store, at: times.date) : nil
            return try copies.map { copy in
                let target = try output.target(for: path).map { copy.path($0) }
                try object.check(target: target)
                try Output.write(to: target) { try write(protector, copy.recipients, signer, to: $0) }
                if copies.count > 1, let target {
                    let who = copy.addresses.map(\.text).joined(separator: ", ")
                    Console.note("\(target): to be sent to \(who) and nobody else")
                }
                return EncryptedFile(file: target ?? "-", recipients: copy.addresses.map(\.text))
            }
        }

        private func write(
            _ protector: MessageProtector,
            _ recipients: [Recipient],
            _ signer: SignedDataWriter.Signer?,
            to sink: any ByteSink
        ) throws {
            guard object.outform == .mime else {
                return try object.write(to: sink) {
                    try protector.encryptedObject(to: recipients, cipher: cipher, to: $0)
                }
            }
            try protector.encrypt(
                to: recipients,
                cipher: cipher,
                signedBy: signer.map { ($0, signing.form) },
                at: .now,
                to: sink,
                lineEnd: output.lineEnd
            )
        }
    }
}

/// What was encrypted with which cipher, and for whom.
private struct EncryptionReport: Encodable {
    let cipher: String
    let files: [EncryptedFile]
}

/// One file that was written.
struct EncryptedFile: Encodable, Sendable {
    let file: String
    let recipients: [String]
}
