import ArgumentParser
import CMS
import Foundation

/// The command `smime`.
struct SMIMECommand: AsyncParsableCommand {
    /// Verbs that know it, as those do that programs call for every mail, are parsed without looking for what only the whole
    /// command has: the scripts of shells for completion.
    static let name = "smime"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Sign, encrypt, decrypt, and verify S/MIME mail.",
        discussion: """
            Start with your certificate and key, then use them:
              smime import alice.p12
              smime sign mail.eml -o signed.eml
            """,
        version: "0.1.0 (\(Libcrypto.version))",
        subcommands: verbs
    )

    private static let allVerbs: [any ParsableCommand.Type] = [
        Import.self, Sign.self, Encrypt.self, Decrypt.self, Verify.self, Inspect.self, List.self,
        AccountCommand.self, RecipientCommand.self, TrustCommand.self, HarvestCommand.self, PolicyCommand.self,
        FilterCommand.self, ConfigCommand.self, Export.self, StoreCommand.self, Doctor.self, Explain.self,
    ]

    /// The verbs that this process has to know: the one that is called, or all of them.
    ///
    /// Describing a verb to the parser takes longer than signing a mail, and a mail server starts us for every mail.
    static let verbs: [any ParsableCommand.Type] = {
        let name = ProgramArguments.current.dropFirst().first
        guard let called = allVerbs.first(where: { $0.configuration.commandName == name }) else { return allVerbs }
        return [called]
    }()

    @OptionGroup var global: GlobalOptions

    /// Runs what the command line says, and ends the process.
    static func execute() async -> Never {
        do {
            let words = try CommandWords.checked(help: helpOfVerb)
            if var command = CommandReading.directly(words) {
                try await command.run()
                end(.success)
            }
            try checkHelp(words)
            var command = try CommandReading.byParser(words)
            try checkVerb(type(of: command))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(.success)
        } catch {
            end(report(error))
        }
    }

    private static func end(_ status: ExitStatus) -> Never {
        EnvironmentPassphrases.forget()
        Foundation.exit(status.rawValue)
    }

    /// Refuses `help` for what is no verb.
    private static func checkHelp(_ words: [String]) throws {
        guard words.first == "help" else { return }
        var verbs = verbs
        for name in words.dropFirst() where !name.hasPrefix("-") {
            guard let verb = verbs.first(where: { $0.configuration.commandName == name }) else {
                throw Failure(.usage, "unknown command '\(name)'", hints: hints(verbs))
            }
            verbs = verb.configuration.subcommands
        }
    }

    /// Refuses a verb that says half of what to do: its help would be a success, in which a pipe can lose a mail.
    private static func checkVerb(_ verb: any ParsableCommand.Type) throws {
        let verbs = verb.configuration.subcommands
        guard !verbs.isEmpty else { return }
        guard verb != SMIMECommand.self else {
            helpMessage().split(separator: "\n", omittingEmptySubsequences: false).forEach { Console.plain(String($0)) }
            throw ExitStatus.usage
        }
        throw Failure(.usage, "say what to do", hints: hints(verbs))
    }

    private static func hints(_ verbs: [any ParsableCommand.Type]) -> [String] {
        verbs.isEmpty
            ? [] : ["the commands are: \(verbs.compactMap { $0.configuration.commandName }.joined(separator: ", "))"]
    }

    /// Says what went wrong, or what was asked for, and returns the status to end with.
    private static func report(_ error: any Error) -> ExitStatus {
        if let end = error as? FilterStatus.End { return end.status }
        if let status = error as? ExitStatus, !isFilter { return status }
        let failure: Failure
        if exitCode(for: error) == .success {
            do {
                try Console.print(fullMessage(for: error))
                return .success
            } catch let error {
                failure = Failure(error)
            }
        } else if exitCode(for: error) == .validationFailure {
            failure =
                unknownVerb ?? unknownOption(usageHint(for: error))
                ?? Failure(usage: message(for: error), hint: usageHint(for: error))
        } else {
            failure = Failure(error)
        }
        if isFilter { return FilterStatus.report(failure) }
        Console.error(failure.message)
        failure.hints.forEach(Console.hint)
        return failure.status
    }

    static let isFilter = FilterStatus.isFilter(Array(ProgramArguments.current.dropFirst()))

    /// What to say of a first argument that is neither a verb nor an option.
    private static var unknownVerb: Failure? {
        let names = allVerbs.compactMap { $0.configuration.commandName }
        guard let name = ProgramArguments.current.dropFirst().first, !name.hasPrefix("-"), name != "help",
            !names.contains(name)
        else { return nil }
        return Failure(.usage, "unknown command '\(name)'", hints: hints(allVerbs))
    }

    /// What to say of an option that the verb does not have.
    ///
    /// The parser looks at what was understood before it looks for what was not, and then takes the value of such an
    /// option for a file.
    private static func unknownOption(_ usage: String?) -> Failure? {
        let known = Set(helpOfVerb().matches(of: /--[A-Za-z0-9-]+/).map { String($0.output) })
        let words = ProgramArguments.current.dropFirst().prefix { $0 != "--" }
        let names = words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
        guard let name = names.first(where: { !known.contains($0) }) else { return nil }
        return Failure(.usage, "unknown option '\(name)'", hints: usage.map { [$0] } ?? [])
    }

    /// The help of the verb that was meant.
    private static func helpOfVerb() -> String {
        var verb: any ParsableCommand.Type = SMIMECommand.self
        for word in ProgramArguments.current.dropFirst().prefix(while: { $0 != "--" }) {
            verb = verb.configuration.subcommands.first { $0.configuration.commandName == word } ?? verb
        }
        return helpMessage(for: verb)
    }

    /// The usage line of the verb that was meant.
    private static func usageHint(for error: any Error) -> String? {
        fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Usage: ") }
            .map { "usage: " + $0.dropFirst("Usage: ".count) }
    }
}
