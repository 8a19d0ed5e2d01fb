import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEGateway

/// The command line of this process: what has to be known before it is parsed, and the command that the parser makes of it.
///
/// A mail server must get status 75 also where parsing fails, passphrases leave the environment before there is a second thread, and
/// errors of the parser name the store. So these few things are looked up in the words; everything else is asked of the
/// command.
struct Invocation: Sendable {
    /// The command line of this process, or, in a worker of the filter, that of the supervisor for which it works.
    static let current = Invocation(FilterWorker.current?.arguments ?? ownArguments)

    /// The words as bytes, the program's name in front; none if the system did not tell them. Swift reads them from /proc.
    let bytes: [[UInt8]]
    /// The words behind the program's name. In place of bytes that are no UTF-8 stand replacement characters.
    let words: [String]
    /// The first word that is no UTF-8; nil if all are.
    let malformedIndex: Int?
    /// The verb that is called and those inside it, the outermost first; empty if there is none.
    let verbs: [any ParsableCommand.Type]
    /// The options around and behind the verbs, and the other arguments.
    let arguments: [String]

    private init(_ bytes: [[UInt8]]) {
        self.bytes = bytes
        let given = bytes.dropFirst()
        words = given.map { String(decoding: $0, as: UTF8.self) }
        malformedIndex = given.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 - 1 }
        (verbs, arguments) = Self.divided(words)
    }

    private static var ownArguments: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// Divides `words` into verbs and what they get. Between verbs stand global options at most.
    private static func divided(_ words: [String]) -> (verbs: [any ParsableCommand.Type], arguments: [String]) {
        var (verbs, arguments): ([any ParsableCommand.Type], [String]) = ([], [])
        var (candidates, rest) = (SMIMECommand.verbs, words[...])
        while let word = rest.first, !candidates.isEmpty {
            if let verb = candidates.first(where: { $0.configuration.commandName == word }) {
                verbs.append(verb)
                (candidates, rest) = (verb.configuration.subcommands, rest.dropFirst())
            } else if let name = GlobalOptions.names.first(where: { word == $0 || word.hasPrefix("\($0)=") }) {
                arguments += rest.prefix(word == name ? 2 : 1)
                rest = rest.dropFirst(word == name ? 2 : 1)
            } else {
                break
            }
        }
        return (verbs, arguments + rest)
    }

    /// Whether the outermost verb is `name`.
    func calls(_ name: String) -> Bool { verbs.first?.configuration.commandName == name }

    /// The words in front of `--`, where options may stand.
    var options: ArraySlice<String> { words.prefix { $0 != "--" } }

    /// The value of the option `name`, as far as it is known before parsing; nil if it is not there, or has none.
    func value(of name: String) -> String? {
        if let joined = options.last(where: { $0.hasPrefix("\(name)=") }) {
            return String(joined.dropFirst(name.count + 1))
        }
        return options.firstIndex(of: name).flatMap { options.dropFirst($0 + 1).first }
    }

    private func has(_ name: String) -> Bool { options.contains { $0 == name || $0.hasPrefix("\(name)=") } }
}

extension Invocation {
    /// Whether a mail server calls us, also if the rest of the command line is wrong.
    var isFilter: Bool {
        var rest = words[...]
        while let option = rest.first, option.hasPrefix("-") {
            rest = rest.dropFirst(GlobalOptions.names.contains(option) ? 2 : 1)
        }
        // The two are no verbs by themselves: with `--home` and nothing behind it `filter` is taken for its value.
        return ["filter", "outgoing", "incoming"].contains(rest.first)
    }

    /// Whether this may end with messages being handed over that a second attempt must know of.
    var mayDeliver: Bool {
        isFilter && has("--queue-id") && !options.contains("--stdout") && !options.contains("--dry-run")
    }

    /// Whether messages are made of one: then a process waits that can rescue it if the one that works on it dies.
    var isSupervised: Bool { isFilter && !options.contains("--dry-run") }

    /// The variables of the environment that hold passphrases.
    var passphraseVariables: Set<String> {
        let names = ["--password-env", "--store-password-env", "--new-password-env"]
        let parted = zip(options, options.dropFirst()).filter { names.contains($0.0) }.map(\.1)
        let joined = options.compactMap { word in
            names.first { word.hasPrefix("\($0)=") }.map { String(word.dropFirst($0.count + 1)) }
        }
        return Set(parted + joined)
    }
}

extension Invocation {
    /// The command that the words say.
    ///
    /// Only the verb that is called is described to the parser: to describe all of them takes longer than signing a mail. Where
    /// the words are wrong or ask for help, the whole command is parsed, whose messages name the verb in full.
    ///
    /// - Throws: `Failure` with status 64 for words that `ArgumentCheck` refuses; what the parser says of words that it does
    ///   not understand.
    func command() throws -> any ParsableCommand {
        try ArgumentCheck(self).check()
        try checkHelp()
        if let verb = verbs.last, verb.configuration.subcommands.isEmpty, !asksForHelp,
            let command = try? verb.parseAsRoot(ArgumentCheck.separatingEmptyValues(in: arguments))
        {
            return command
        }
        return try SMIMECommand.parseAsRoot(ArgumentCheck.separatingEmptyValues(in: words))
    }

    private var asksForHelp: Bool { options.contains { ["-h", "--help"].contains($0) } }

    /// The help of the verb that was meant.
    var help: String {
        var verb: any ParsableCommand.Type = SMIMECommand.self
        for word in options {
            verb = verb.configuration.subcommands.first { $0.configuration.commandName == word } ?? verb
        }
        return SMIMECommand.helpMessage(for: verb)
    }

    /// Refuses `help` for what is no verb.
    private func checkHelp() throws {
        guard words.first == "help" else { return }
        var verbs = SMIMECommand.verbs
        for name in words.dropFirst() where !name.hasPrefix("-") {
            guard let verb = verbs.first(where: { $0.configuration.commandName == name }) else {
                throw Failure(.usage, "unknown command '\(name)'", hints: SMIMECommand.hints(verbs))
            }
            verbs = verb.configuration.subcommands
        }
    }
}
