import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME
import Streams

extension SMIMECommand {
    struct Decrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decrypt",
            abstract: "Decrypt mail, through all its layers.",
            discussion: """
                The key is found by the recipients that the message names; old identities open old mail. Nothing is \
                written before all of it was found intact. A signature inside is judged, too: status 1 if it fails.

                  smime decrypt mail.eml -o plain.eml
                  smime decrypt --with-password secret.eml
                """
        )

        @OptionGroup var input: InputOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var form: FormOptions
        @OptionGroup(title: "Secrets in place of certificates") var secrets: SecretOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var trust: TrustOptions
        @OptionGroup var online: OnlineOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            try output.validate(with: input, report)
            if report.json, input.paths.count > 1 { throw ValidationError("--json takes one file") }
        }

        func run() async throws {
            let opening = try global.opening(.readOnly, password: secrets.storePassword)
            let provider = StoreKeyProvider(opening: opening, systemAnchors: anchors.systemAnchors)
            let secret = try secrets.secret(isNew: false)
            let asked = OnlineRevocation(opening, isDemanded: online.online)
            let opener = MessageOpener(
                provider,
                at: times.date,
                secret: secret,
                terms: trust.terms,
                revocation: asked
            )
            let outcomes = try await Batch(input.paths, output).run { path in
                let opened = try await decrypt(path, opener)
                try Output.write(to: try output.target(for: path), isPrivate: true) {
                    try opened.write(to: $0, lineEnd: output.lineEnd)
                }
                let status = await asked.status(for: opened.report)
                return (opened.report, opened.report.signers.isEmpty ? .success : status)
            }
            try await asked.finish()
            for outcome in outcomes {
                guard let value = outcome.value else { continue }
                let name = InputFile.name(outcome.path)
                describe(value, name)
                if report.json { try Report.print(VerificationOutput(value, file: name)) }
            }
            try outcomes.map(\.status).throwWorst()
        }

        private func decrypt(_ path: String, _ opener: MessageOpener) async throws -> OpenedMessage {
            let source = try InputFile.open(path)
            if let object = try form.object(in: source) { return try await opener.decrypt(cms: object, in: source) }
            return try await opener.decrypt(source)
        }

        /// Says what each layer was.
        private func describe(_ report: VerificationReport, _ name: String) {
            for layer in report.layers where layer.kind != .signed {
                Console.note("\(name): \(layer.kind.rawValue) with \(layer.algorithm)")
                layer.problems.forEach { Console.warning("\(name): \($0.text) (\($0.code))") }
            }
            if let hidden = report.headers?.hidden, !hidden.isEmpty {
                Console.note("\(name): header fields that were hidden: \(hidden.joined(separator: ", "))")
            }
            defer {
                for problem in report.problems { Console.warning("\(name): \(problem.text) (\(problem.code))") }
            }
            guard !report.signers.isEmpty else { return Console.note("\(name): not signed") }
            for signer in report.signers {
                let who = signer.certificate.map { $0.addresses.first ?? "\($0.subject)" } ?? "unknown"
                Console.note("\(name): signed by \(who), \(report.status.rawValue)")
                let axes = [signer.integrity, signer.chain, signer.identity, signer.revocation, signer.time]
                for problem in axes.flatMap(\.problems) {
                    let isNote = problem.kind == .revocationUnknown && problem.level == .warning
                    (isNote ? Console.note : Console.warning)("\(name): \(problem.text) (\(problem.code))")
                }
            }
        }
    }
}
