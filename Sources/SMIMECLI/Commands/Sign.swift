import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME
import Streams

extension SMIMECommand {
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign mail.",
            discussion: """
                The message's From says who signs, unless you do. Content that transports would change is encoded \
                first.

                  smime sign mail.eml -o signed.eml
                  smime sign --from alice@example.org < mail.eml | sendmail -t
                """
        )

        @OptionGroup var input: InputOptions
        @OptionGroup var signing: SigningOptions
        @Flag(help: "The input is plain text, not a message.")
        var text = false
        @OptionGroup var output: OutputOptions
        @OptionGroup var object: ObjectOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws { try output.validate(with: input) }

        func run() async throws {
            let store = try await global.store(.readOnly)
            try await Batch(input.paths, output).run { path in
                try await sign(path, store)
                return ((), .success)
            }.map(\.status).throwWorst()
        }

        private func sign(_ path: String, _ store: Store) async throws {
            let sender = signing.from.map { [NewField("From", $0.text)] } ?? []
            let source = try MessageInput.open(path, isText: text, fields: sender)
            let protector = try MessageProtector(source)
            let signer = try await signing.signer(for: protector.header, in: store, at: .now)
            let target = try output.target(for: path)
            try object.check(target: target)
            try Output.write(to: target) { sink in
                guard object.outform == .mime else {
                    return try object.write(to: sink) {
                        try protector.signature(by: signer, as: signing.form, at: .now, to: $0)
                    }
                }
                try protector.sign(by: signer, as: signing.form, at: .now, to: sink, lineEnd: output.lineEnd)
            }
        }
    }
}
