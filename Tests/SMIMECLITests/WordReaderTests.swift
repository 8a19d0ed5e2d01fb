import ArgumentParser
import Foundation
import SMIMECLI
import TestSupport
import Testing

/// What `WordReader` makes of a command line is what ArgumentParser makes of it.
@Suite struct WordReaderTests {
    /// The verbs that are read without the parser, and words that some of their options cannot do without.
    private static let verbs: [(name: [String], bases: [[String]])] = [
        (["sign"], [[], ["m"]]),
        (["encrypt"], [[], ["--sign"], ["-o", "o"], ["m"], ["--secret-key-file", "k"]]),
        (["decrypt"], [[], ["-o", "o"], ["m"], ["--secret-key-file", "k"]]),
        (["verify"], [[]]),
        (["filter", "outgoing"], filterBases),
        (["filter", "incoming"], filterBases),
    ]
    private static let filterBases = [
        ["--", "b@example.org"], ["--sender", "a@example.org", "--", "b@example.org"],
        ["--sender", "a@example.org", "--dry-run", "--", "b@example.org"],
    ]

    /// Each option takes one of these: one whose name is that of its value in the help, if there is any.
    private static let samples = [
        ("addr", "a@example.org"), ("n", "3"), ("file", "mail.eml"), ("dir", "d"), ("path", "/usr/sbin/sendmail -G"),
        ("name", "PATH"),
        ("hex", "ab"), ("time", "2026-01-31T12:00:00Z"), ("fpr", String(repeating: "ab", count: 32)), ("oid", "1.2.3"),
        ("off|soft|hard", "soft"), ("strict", "strict"), ("inform", "der"), ("outform", "der"), ("digest", "sha256"),
        ("cipher", "aes-256-gcm"), ("color", "never"), ("policy", "shy"), ("log", "stderr"), ("id", "4XyZ"),
        ("", "use"),
        ("sign", "require"), ("encrypt", "never"),
    ].map { (name: $0, value: $1) }

    @Test func `every option of the verbs that are started for every mail is read without the parser`() throws {
        for (name, bases) in Self.verbs {
            let options = try Self.options(of: name)
            #expect(options.count > 15)
            for option in options {
                let lines = Self.words(option).flatMap { words in bases.map { words + $0 } }
                let line = try #require(
                    lines.first { (try? CommandReading.byParser(name + $0)) != nil },
                    "\(name) \(option.names): the parser takes none of the samples"
                )
                let read = try #require(CommandReading.directly(name + line), "\(name + line) is left to the parser")
                #expect(Self.values(read) == Self.values(try CommandReading.byParser(name + line)), "\(name + line)")
            }
        }
    }

    @Test(arguments: 0..<4) func `whatever is read without the parser, the parser reads to the same result`(
        seed: Int
    ) throws {
        var generator = SeededGenerator(seed)
        var count = 0
        for _ in 0..<200 {
            let (name, bases) = try #require(Self.verbs.randomElement(using: &generator))
            let options = try Self.options(of: name)
            var words: [String] = []
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let option = try #require(options.randomElement(using: &generator))
                words += try #require(Self.words(option, odd: true).randomElement(using: &generator))
                if Int.random(in: 0..<6, using: &generator) == 0 {
                    words.append(try #require(Self.odd.randomElement(using: &generator)))
                }
            }
            words += try #require(bases.randomElement(using: &generator))
            guard let read = CommandReading.directly(name + words) else { continue }
            count += 1
            let parsed = try? CommandReading.byParser(name + words)
            #expect(Self.values(read) == parsed.map(Self.values), "\(name + words)")
        }
        #expect(count > 20)
    }

    /// Words that stand where nobody expects them.
    private static let odd = [
        "-", "--", "", "help", "sign", "-h", "--version", "--help", "-x", "--unknown", "a=b", "-\u{301}", "é", "@file",
        "--output", "--output=", "--output=-x", "-o=x", "--crlf=1", "--no-json", " ", "-1", "---", "--=", "mail.eml",
        "--sign",
    ]

    /// The ways in which an option can stand there.
    private static func words(_ option: HelpArgument, odd: Bool = false) -> [[String]] {
        guard option.kind == "option" else { return option.names.map { [$0] } }
        let likely = samples.filter { $0.name == option.valueName }
        let values = (likely.isEmpty || odd ? samples : likely).map(\.value) + (odd ? self.odd : [])
        return option.names.flatMap { name in
            values.flatMap { [[name, $0]] + (odd && name.hasPrefix("--") ? [["\(name)=\($0)"]] : []) }
        }
    }

    // MARK: Options as the parser tells them

    private struct Help: Decodable {
        let command: HelpCommand
    }

    private struct HelpCommand: Decodable {
        let commandName: String
        let arguments: [HelpArgument]?
        let subcommands: [HelpCommand]?
    }

    private struct HelpArgument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }
        let kind: String
        let valueName: String?
        private let allNames: [Name]?

        enum CodingKeys: String, CodingKey {
            case kind, valueName
            case allNames = "names"
        }

        var names: [String] { (allNames ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name } }
    }

    private static let help = Result {
        let dump = try CommandRunner(Tool.smime().path).run(["--experimental-dump-help"]).standardOutput
        return try JSONDecoder().decode(Help.self, from: Data(dump)).command
    }

    private static func options(of name: [String]) throws -> [HelpArgument] {
        var command = try help.get()
        for name in name {
            command = try #require(command.subcommands?.first { $0.commandName == name })
        }
        return (command.arguments ?? []).filter {
            $0.kind != "positional" && Set($0.names).isDisjoint(with: ["--help", "--version"])
        }
    }

    // MARK: What options were set to

    /// All that the properties of `options` hold, those of groups among them.
    private static func values(_ options: Any) -> String {
        var text = "\(type(of: options))("
        for child in Mirror(reflecting: options).children {
            text += (child.label ?? "") + ": " + value(child.value) + ", "
        }
        return text + ")"
    }

    private static func value(_ property: Any) -> String {
        guard let parsed = Mirror(reflecting: property).children.first(where: { $0.label == "_parsedValue" })?.value,
            let held = Mirror(reflecting: parsed).children.first, held.label == "value"
        else {
            var text = ""
            dump(property, to: &text)
            return text
        }
        if held.value is any ParsableArguments { return values(held.value) }
        var text = ""
        dump(held.value, to: &text)
        return text
    }
}
