import Foundation
import SMIMECLI
import TestSupport
import Testing

/// The texts of the commands, from which the help and the manual pages are made.
@Suite struct HelpTests {
    /// A command in the output of `--experimental-dump-help`.
    private struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// The examples, each in one line.
        var examples: [String] {
            let lines = (discussion ?? "").split(separator: "\n").map(String.init).filter { $0.hasPrefix("  ") }
            return lines.reduce(into: []) { examples, line in
                if let last = examples.last, last.hasSuffix("\\") {
                    examples[examples.count - 1] = "\(last.dropLast()) \(line)"
                } else {
                    examples.append(line)
                }
            }
        }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let names: [Name]?
        let shouldDisplay: Bool

        var long: String? { names?.first { $0.kind == "long" }.map { "--\($0.name)" } }
    }

    private struct Dump: Decodable {
        let command: Command
    }

    /// The commands that a person can call, with the words that call them.
    private let commands: [(path: [String], command: Command)]

    init() throws {
        let result = try CommandRunner(Tool.smime().path).run(["--experimental-dump-help"])
        let root = try JSONDecoder().decode(Dump.self, from: Data(result.standardOutput)).command
        commands = Self.all(below: root, path: [root.commandName])
    }

    private static func all(below command: Command, path: [String]) -> [([String], Command)] {
        let shown = (command.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
        return [(path, command)] + shown.flatMap { all(below: $0, path: path + [$0.commandName]) }
    }

    @Test func `the purpose is one sentence`() {
        for (path, command) in commands {
            let abstract = command.abstract ?? ""
            #expect(abstract.hasSuffix(".") && !abstract.contains(". "), "\(path.joined(separator: " ")): \(abstract)")
        }
    }

    @Test func `the overview has one line for each verb`() {
        let verbs = commands.filter { $0.path.count == 2 }
        #expect(verbs.count > 20)
        for (path, command) in verbs {
            #expect((command.abstract ?? "").count <= 54, "\(path.joined(separator: " "))")
        }
    }

    @Test func `every command has examples, in lines of a terminal's width`() {
        for (path, command) in commands {
            let name = path.joined(separator: " ")
            #expect(command.examples.count >= 2, "\(name)")
            let lines = (command.discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") }
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(name)")
        }
    }

    @Test func `an example calls a command with options that it has`() {
        for (path, command) in commands {
            for example in command.examples {
                // A comment or another program may follow.
                let line = example.prefix { $0 != "#" && $0 != "|" }
                let words = line.split(separator: " ").map(String.init)
                guard words.first == "smime", let called = called(by: Array(words.dropFirst())) else {
                    #expect(words.first != "smime", "\(path.joined(separator: " ")): \(example)")
                    continue
                }
                let known = Set((called.arguments ?? []).compactMap(\.long))
                let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
                #expect(Set(options).isSubset(of: known), "\(path.joined(separator: " ")): \(example)")
            }
        }
    }

    /// The command that the words of an example call; nil if there is no such command.
    private func called(by words: [String]) -> Command? {
        var rest = words[...]
        while let option = rest.first, Invocation.globalNames.contains(option) { rest = rest.dropFirst(2) }
        if rest.first == "help" { rest = rest.dropFirst() }
        return commands.filter { $0.path.count > 1 && rest.starts(with: $0.path.dropFirst()) }
            .max { $0.path.count < $1.path.count }?.command
    }

    @Test func `options that the parser hides are rare`() {
        let hidden = commands.flatMap { $0.command.arguments ?? [] }.filter { !$0.shouldDisplay }.compactMap(\.long)
        #expect(!hidden.isEmpty)
        #expect(Set(hidden).isSubset(of: HelpScreen.rare))
    }
}
