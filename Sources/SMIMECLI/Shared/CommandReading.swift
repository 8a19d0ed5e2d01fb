package import ArgumentParser

/// The two ways in which a command line becomes a command. They come to the same.
package enum CommandReading {
    /// The command that `words` say, if its verb is one that is started for every mail, and they are ordinary.
    package static func directly(_ words: [String]) -> (any AsyncParsableCommand)? {
        guard let name = words.first else { return nil }
        switch name {
        case "sign": return try? command(SMIMECommand.Sign.self, words.dropFirst())
        case "encrypt": return try? command(SMIMECommand.Encrypt.self, words.dropFirst())
        case "decrypt": return try? command(SMIMECommand.Decrypt.self, words.dropFirst())
        case "verify": return try? command(SMIMECommand.Verify.self, words.dropFirst())
        case "filter" where words.dropFirst().first == "outgoing":
            return try? command(SMIMECommand.FilterCommand.Outgoing.self, words.dropFirst(2))
        case "filter" where words.dropFirst().first == "incoming":
            return try? command(SMIMECommand.FilterCommand.Incoming.self, words.dropFirst(2))
        default: return nil
        }
    }

    private static func command<Command: WordReadable>(
        _: Command.Type,
        _ words: some Collection<String>
    ) throws -> Command {
        var reader = WordReader(words)
        return try reader.group()
    }

    /// The command that `words` say.
    ///
    /// The verb alone is parsed in half the time that it takes together with what stands around it. Whatever is not in
    /// order, and a wish for help is part of that, is for the whole command to say.
    ///
    /// - Throws: what the parser says of words that it does not understand.
    package static func byParser(_ words: [String]) throws -> any ParsableCommand {
        var called: (any ParsableCommand.Type)?
        var (verbs, rest) = (SMIMECommand.verbs, words[...])
        while let verb = verbs.first(where: { $0.configuration.commandName == rest.first }) {
            (called, verbs, rest) = (verb, verb.configuration.subcommands, rest.dropFirst())
        }
        let asksForHelp = rest.prefix { $0 != "--" }.contains { ["-h", "--help"].contains($0) }
        if verbs.isEmpty, !asksForHelp, let command = try? called?.parseAsRoot(Array(rest)) { return command }
        return try SMIMECommand.parseAsRoot(words)
    }
}
