import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME
import Streams

extension SMIMECommand {
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check who signed a mail, and whether it is what was signed.",
            discussion: """
                The report has five axes: integrity, chain, identity, revocation and time. The exit status is 0 if and \
                only if the verdict is valid. From a valid mail the sender's certificate is learned, to encrypt the \
                answer to.

                  smime verify mail.eml
                  smime verify --json --assert-signer alice@example.org mail.eml
                """
        )

        @OptionGroup var input: InputOptions
        @Option(
            help: ArgumentHelp("Write the entity that was signed, if its integrity holds.", valueName: "file"),
            completion: .file()
        )
        var content: String?
        @Option(
            name: [.customShort("b"), .long],
            help: ArgumentHelp("Check this DER or PEM signature over FILE, taken byte for byte.", valueName: "file"),
            completion: .file()
        )
        var detachedSignature: String?
        @Option(
            help: ArgumentHelp("Succeed only if this address or fingerprint signed validly.", valueName: "addr|fpr")
        )
        var assertSigner: String?
        @Flag(name: .customLong("no-harvest"), help: "Do not learn the sender's certificate from a valid signature.")
        var noHarvest = false
        @OptionGroup var learning: LearningOptions
        @OptionGroup var form: FormOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if input.paths.count > 1, content != nil || detachedSignature != nil || report.json {
                throw ValidationError("--content, --detached-signature and --json take one file")
            }
            if let assertSigner, Fingerprint(assertSigner) == nil, (try? EmailAddress(assertSigner)) == nil {
                throw ValidationError("--assert-signer: '\(assertSigner)' is neither an address nor a fingerprint")
            }
        }

        func run() async throws {
            let store = try await global.store(.readOnly)
            let provider = StoreKeyProvider(store: store, systemAnchors: anchors.systemAnchors)
            let opener = MessageOpener(provider, at: times.date)
            let outcomes = try await Batch(input.paths).run { path in
                let result = try await verify(path, opener)
                let isAsserted = try assertSigner.map { try result.report.isSigned(by: $0) } ?? true
                if !isAsserted { Console.error("\(InputFile.name(path)): not validly signed by \(assertSigner ?? "")") }
                try writeContent(of: result)
                return (result, isAsserted ? result.report.exitStatus : max(result.report.exitStatus, .negative))
            }
            // A time other than now says nothing about what is to be used from now on.
            let learns = !noHarvest && times.given == nil
            let learning = Learning(store: store, policy: learning.onChange)
            let messages = learns ? outcomes.compactMap { $0.value?.message } : []
            let learned = await learning.preview(messages)
            for outcome in outcomes {
                guard let value = outcome.value?.report else { continue }
                let name = InputFile.name(outcome.path)
                try report.print(VerificationOutput(value, learned: learned, file: name)) { value.text(file: name) }
            }
            if learned.changesStore { await learning.learn(messages) }
            try outcomes.map(\.status).throwWorst()
        }

        private func verify(_ path: String, _ opener: MessageOpener) async throws -> VerifiedContent {
            let source = try InputFile.open(path)
            if let detachedSignature {
                let signature = try InputFile.open(detachedSignature)
                let object = try form.object(in: signature) ?? signature.stream()
                return try await opener.verify(cms: object, detached: source)
            }
            if let object = try form.object(in: source) { return try await opener.verify(cms: object, detached: nil) }
            return try await opener.verify(source)
        }

        private func writeContent(of result: VerifiedContent) throws {
            guard let content else { return }
            let spool = Spool()
            guard try result.writeContent(to: spool) else {
                return Console.warning("\(content): not written, as nothing is known to be what was signed")
            }
            let source = try spool.finish()
            try Output.write(to: content == "-" ? nil : content) { try source.reader().copy(to: $0) }
        }
    }
}

extension VerificationReport {
    /// The status that a command ends with for this report.
    var exitStatus: ExitStatus {
        switch status {
        case .valid: .success
        case .malformed: .badData
        case .expired, .invalid, .mismatch, .partial, .revoked, .unsigned, .untrusted: .negative
        }
    }

    /// Whether a valid signature over the whole message is by the one who has this address or fingerprint.
    func isSigned(by name: String) throws -> Bool {
        guard status == .valid else { return false }
        if let fingerprint = Fingerprint(name) {
            return signers.contains { $0.certificate?.fingerprint == fingerprint }
        }
        let address = try EmailAddress(name)
        return signers.contains { $0.certificate?.names(address) == true }
    }
}
