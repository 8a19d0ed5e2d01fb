import ArgumentParser
import Foundation
import LibCrypto
import SMIMEGateway

/// The command `smime`.
struct SMIMECommand: AsyncParsableCommand {
    /// The name of the command. Verbs that should start quickly pass it as `_superCommandName`. The parser then does not
    /// check whether a completion script was requested; only `smime` itself writes such scripts.
    static let name = "smime"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Sign, encrypt, decrypt, and verify S/MIME mail.",
        discussion: """
              smime import alice.p12    # begin with your certificate and key
              smime help sign           # examples and options of a command
            """,
        version: "\(Version.current) (\(Libcrypto.version))",
        subcommands: called.map { [$0] } ?? [],
        groupedSubcommands: called == nil ? groups : []
    )

    /// All verbs, as the help lists them.
    private static let groups = [
        CommandGroup(
            name: "Your certificates",
            subcommands: [Import.self, List.self, AccountCommand.self, Export.self]
        ),
        CommandGroup(
            name: "Mail",
            subcommands: [
                Sign.self, Encrypt.self, Decrypt.self, Verify.self, Read.self, Inspect.self, Explain.self,
            ]
        ),
        CommandGroup(
            name: "Other people's certificates",
            subcommands: [RecipientCommand.self, HarvestCommand.self, TrustCommand.self]
        ),
        CommandGroup(
            name: "Mail servers and other programs",
            subcommands: [PolicyCommand.self, FilterCommand.self, Serve.self, Sendmail.self, Git.self]
        ),
        CommandGroup(
            name: "The store",
            subcommands: [
                Unlock.self, Lock.self, ConfigCommand.self, Doctor.self, StoreCommand.self, Complete.self,
            ]
        ),
    ]

    /// All verbs.
    static let verbs = groups.flatMap(\.subcommands)

    /// The called verb; nil if none is called. If there is one, the parser gets only this verb, otherwise all verbs.
    private static let called = Invocation.current.divided.verbs.first

    @OptionGroup var global: GlobalOptions

    /// Runs the command line and ends the process.
    static func execute() async -> Never {
        do {
            var command = try Invocation.current.command()
            try checkVerb(type(of: command))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(.success)
        } catch {
            end(await report(error))
        }
    }

    private static func end(_ status: ExitStatus) -> Never {
        EnvironmentPassphrases.forget()
        Foundation.exit(status.rawValue)
    }

    /// Rejects a verb without its subcommand. Printing the verb's help would end with success, and a mail in a pipe could be
    /// lost.
    private static func checkVerb(_ verb: any ParsableCommand.Type) throws {
        let verbs = verb.configuration.subcommands
        guard !verbs.isEmpty else { return }
        guard verb != SMIMECommand.self else {
            let lines = HelpScreen.shortened(helpMessage()).split(separator: "\n", omittingEmptySubsequences: false)
            lines.forEach { Console.plain(String($0)) }
            throw ExitStatus.usage
        }
        throw Failure(.usage, "name a command of `smime \(verb.configuration.commandName ?? "")`", hints: hints(verbs))
    }

    static func hints(_ verbs: [any ParsableCommand.Type]) -> [String] {
        verbs.isEmpty
            ? [] : ["the commands are: \(names(verbs).joined(separator: ", "))"]
    }

    /// The names of the verbs that the help shows.
    private static func names(_ verbs: [any ParsableCommand.Type]) -> [String] {
        verbs.compactMap { $0.configuration.shouldDisplay ? $0.configuration.commandName : nil }
    }

    /// Prints the error, or the help or version that the user asked for, and returns the exit status.
    private static func report(_ error: any Error) async -> ExitStatus {
        if let end = error as? FilterStatus.End { return end.status }
        if let refusal = error as? GatewayRefusal {
            let failure = Failure(refusal.exitStatus, refusal.logText)
            if Invocation.current.reportsFailures, !Report.isBegun { try? Report.print(FailureReport(failure)) }
            return FilterStatus.report(refusal)
        }
        if let status = error as? ExitStatus, !Invocation.current.isFilter { return status }
        let failure: Failure
        if exitCode(for: error) == .success {
            do {
                let text = CompletionScript.completed(fullMessage(for: error))
                let isWhole = Invocation.current.asksForAllHelp
                try Console.print(isWhole ? HelpScreen.complete(text) : HelpScreen.shortened(text))
                return .success
            } catch let error {
                failure = Failure(error)
            }
        } else if exitCode(for: error) == .validationFailure {
            failure =
                unknownVerb ?? unknownOption(usageHint(for: error))
                ?? Failure(usage: message(for: error), hint: usageHint(for: error))
        } else {
            failure = await Failure(error).suggestingAddresses()
        }
        if Invocation.current.reportsFailures, !Report.isBegun { try? Report.print(FailureReport(failure)) }
        if Invocation.current.isFilter { return FilterStatus.report(failure) }
        guard !failure.isReported else { return failure.status }
        Console.error(failure.message)
        failure.hints.forEach(Console.hint)
        return failure.status
    }

    /// The error for a word that is neither a verb nor an option, in a place where a verb or subcommand is expected; nil if
    /// there is no such word.
    private static var unknownVerb: Failure? {
        let (outer, rest) = Invocation.current.divided
        let candidates = outer.last?.configuration.subcommands ?? verbs
        let names = candidates.compactMap { $0.configuration.commandName }
        guard !names.isEmpty, let name = rest.first, !name.hasPrefix("-"), name != "help" else { return nil }
        let path = outer.compactMap { $0.configuration.commandName }.map { "\($0) " }.joined()
        let meant = Suggestion.closest(to: name, among: names).map { "did you mean `smime \(path)\($0)`?" }
        return Failure(.usage, "unknown command '\(path)\(name)'", hints: meant.map { [$0] } ?? hints(candidates))
    }

    /// The error for an option that the verb does not have; nil if there is no such option.
    ///
    /// The parser would report other errors before unknown options, and would treat the value of an unknown option as a file.
    private static func unknownOption(_ usage: String?) -> Failure? {
        let known = Set(Invocation.current.help.matches(of: /--[A-Za-z0-9-]+/).map { String($0.output) })
        let names = Invocation.current.options.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
        guard let name = names.first(where: { !known.contains($0) }) else { return nil }
        let meant = Suggestion.closest(to: name, among: known).map { "did you mean \($0)?" }
        return Failure(.usage, "unknown option '\(name)'", hints: [meant ?? usage].compactMap(\.self))
    }

    /// The usage line of the verb.
    private static func usageHint(for error: any Error) -> String? {
        fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Usage: ") }
            .map { "usage: " + $0.dropFirst("Usage: ".count) }
    }
}
