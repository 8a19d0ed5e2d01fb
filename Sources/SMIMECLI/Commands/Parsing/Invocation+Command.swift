import ArgumentParser

extension Invocation {
    /// The verbs on the command line, the outermost first, and all other arguments, including options before the verbs. Only
    /// global options may be between verbs.
    var divided: (verbs: [any ParsableCommand.Type], arguments: [String]) {
        var (verbs, arguments): ([any ParsableCommand.Type], [String]) = ([], [])
        var (candidates, rest) = (SMIMECommand.verbs, words[...])
        while let word = rest.first, !candidates.isEmpty {
            if let verb = candidates.first(where: { $0.configuration.commandName == word }) {
                verbs.append(verb)
                (candidates, rest) = (verb.configuration.subcommands, rest.dropFirst())
            } else if let name = Self.globalName(word) {
                arguments += rest.prefix(word == name ? 2 : 1)
                rest = rest.dropFirst(word == name ? 2 : 1)
            } else {
                break
            }
        }
        return (verbs, arguments + rest)
    }

    /// The global option that `word` is, with or without a value; nil if it is none.
    private static func globalName(_ word: String) -> String? {
        globalNames.first { word == $0 || word.hasPrefix("\($0)=") }
    }

    /// Whether the outermost verb is `name`.
    func calls(_ name: String) -> Bool { divided.verbs.first?.configuration.commandName == name }
}

extension Invocation {
    /// The parsed command.
    ///
    /// The parser first gets only the called verb, because describing all verbs takes longer than signing a mail. If the
    /// words are wrong or ask for help, the parser gets the whole command, so that messages name the verb in full.
    ///
    /// - Throws: the errors of `ArgumentCheck`; `Failure` with status 64 for `help` with an unknown verb, and for
    ///   arguments that `sendmail` or `git` does not accept; the parser's error for words that the parser does not
    ///   understand.
    func command() throws -> any ParsableCommand {
        if calls(SMIMECommand.Sendmail.name) { return try sendmail() }
        if calls(SMIMECommand.Git.name) { return try git() }
        try ArgumentCheck(self).check()
        try checkHelp()
        let (verbs, arguments) = divided
        if let verb = verbs.last, verb.configuration.subcommands.isEmpty, !asksForHelp,
            let command = try? verb.parseAsRoot(ArgumentCheck.separatingEmptyValues(in: arguments))
        {
            return command
        }
        let asked = words.map { asksForAllHelp && $0 == HelpScreen.allOption ? "--help-hidden" : $0 }
        return try SMIMECommand.parseAsRoot(ArgumentCheck.separatingEmptyValues(in: asked))
    }

    /// Parses `smime sendmail`: words that are not options of smime are passed on unparsed.
    private func sendmail() throws -> any ParsableCommand {
        guard malformedIndex == nil else { throw Failure(.usage, "an argument is not UTF-8") }
        let given = divided.arguments
        let help = ["--help", HelpScreen.allOption]
        guard !(["-h"] + help).contains(where: { given == [$0] }) else {
            throw CleanExit.helpRequest(SMIMECommand.Sendmail.self)
        }
        let arguments = try SendmailArguments(given, acceptsOwn: !isNamedForVerb)
        guard !arguments.own.contains(where: help.contains) else {
            throw CleanExit.helpRequest(SMIMECommand.Sendmail.self)
        }
        return try SMIMECommand.Sendmail.parseAsRoot(arguments.own + ["--"] + arguments.others)
    }

    /// Parses `smime git`: the words after the global options are arguments from git.
    private func git() throws -> any ParsableCommand {
        guard malformedIndex == nil else { throw Failure(.usage, "an argument is not UTF-8") }
        guard !asksForHelp else { throw CleanExit.helpRequest(SMIMECommand.Git.self) }
        let given = divided.arguments
        var (own, rest) = ([String](), given[...])
        while let word = rest.first, let name = Self.globalName(word) {
            let count = word == name ? 2 : 1
            own += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        return try SMIMECommand.Git.parseAsRoot(own + ["--"] + rest)
    }

    private var asksForHelp: Bool { options.contains { ["-h", "--help"].contains($0) } || asksForAllHelp }

    /// Whether the user asks for the full help.
    var asksForAllHelp: Bool { options.contains(HelpScreen.allOption) }

    /// The help text of the verb, as wide as it is on a terminal of 80 columns: in a narrow one, the parser leaves out the
    /// explanations.
    var help: String {
        var verb: any ParsableCommand.Type = SMIMECommand.self
        for word in options {
            verb = verb.configuration.subcommands.first { $0.configuration.commandName == word } ?? verb
        }
        return SMIMECommand.helpMessage(for: verb, includeHidden: true, columns: 80)
    }

    /// Rejects `help` followed by a word that is not a verb.
    private func checkHelp() throws {
        var rest = words[...]
        while let name = rest.first.flatMap(Self.globalName) {
            rest = rest.dropFirst(rest.first == name ? 2 : 1)
        }
        guard rest.first == "help" else { return }
        var verbs = SMIMECommand.verbs
        for name in rest.dropFirst() where !name.hasPrefix("-") {
            guard let verb = verbs.first(where: { $0.configuration.commandName == name }) else {
                throw Failure(.usage, "unknown command '\(name)'", hints: SMIMECommand.hints(verbs))
            }
            verbs = verb.configuration.subcommands
        }
    }
}
