import Foundation
import SMIMECLI
import TestSupport
import Testing

/// The lists of options that are used before parsing agree with the parser.
@Suite struct OptionListTests {
    /// A command in the output of `--experimental-dump-help`.
    private struct Command: Decodable {
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// This command and all commands below it.
        var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }
        /// The options that take a value.
        var options: [Argument] { (arguments ?? []).filter { $0.kind == "option" } }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let names: [Name]?
        let isRepeating: Bool
        let abstract: String?

        var long: String? { names?.first { $0.kind == "long" }.map { "--\($0.name)" } }
        var short: String? { names?.first { $0.kind == "short" }.map { "-\($0.name)" } }
    }

    private struct Dump: Decodable {
        let command: Command
    }

    private let root: Command
    private let options: [Argument]

    init() throws {
        let result = try CommandRunner(Tool.smime().path).run(["--experimental-dump-help"])
        root = try JSONDecoder().decode(Dump.self, from: Data(result.standardOutput)).command
        options = root.all.flatMap(\.options)
    }

    @Test func `the help says of exactly those options that the parser collects that they may be repeated`() {
        let collected = options.filter(\.isRepeating)
        #expect(collected.count > 10)
        for option in options {
            #expect(option.abstract?.contains("may be repeated") == option.isRepeating, "\(option.long ?? "")")
        }
    }

    @Test func `every option with a value and a letter is in OptionLetter`() {
        let pairs = options.compactMap { option in option.short.flatMap { short in option.long.map { [short, $0] } } }
        #expect(Set(pairs) == Set(OptionLetter.allCases.map { ["-\($0.rawValue)", "--\($0.longName)"] }))
    }

    @Test func `an entry of the help has the names, the value and the whole explanation of one option`() throws {
        let help = """
            OPTIONS:
              -o, --output <file>     Write to this file.
              --add-alias <addr|@domain>
                                      Another address of the account; may be
                                      repeated.
              --json                  Report as JSON, not to --output.
            """
        let output = try #require(HelpEntry(of: "--output", in: help))
        #expect(output.hasValue && !output.mayBeRepeated)
        let alias = try #require(HelpEntry(of: "--add-alias", in: help))
        #expect(alias.hasValue && alias.mayBeRepeated)
        #expect(HelpEntry(of: "--json", in: help)?.hasValue == false)
        #expect(HelpEntry(of: "--out", in: help) == nil)
    }

    @Test func `options whose value may be empty, and rare ones, are options of the parser`() {
        let long = Set(root.all.flatMap { $0.arguments ?? [] }.compactMap(\.long))
        #expect(Set(ArgumentCheck.maybeEmpty).subtracting(options.compactMap(\.long)).isEmpty)
        #expect(HelpScreen.rare.subtracting(long).isEmpty)
    }

    @Test func `the global options are those of the command without a verb`() {
        #expect(Invocation.globalNames == root.options.compactMap(\.long))
    }

    @Test func `options that name the variable of a passphrase are known`() {
        let named = Set(options.compactMap(\.long).filter { $0.hasSuffix("password-env") })
        #expect(Set(Invocation.passphraseOptions) == named)
    }

    @Test func `sendmail's options of ours with a value are those of the parser`() throws {
        let sendmail = try #require(root.all.first { $0.commandName == "sendmail" })
        #expect(Set(SendmailArguments.ownWithValue) == Set(sendmail.options.compactMap(\.long)))
    }
}
