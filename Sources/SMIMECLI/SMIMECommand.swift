import ArgumentParser
import CMS
import Foundation
import MailFilter
import Streams

/// The command `smime`.
@main
struct SMIMECommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "smime",
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
    private static var verbs: [any ParsableCommand.Type] {
        let name = CommandLine.arguments.dropFirst().first
        guard let called = allVerbs.first(where: { $0.configuration.commandName == name }) else { return allVerbs }
        return [called]
    }

    @OptionGroup var global: GlobalOptions

    static func main() async {
        // A reader that went away is a failed write, which has a status of its own, and not a silent death.
        signal(SIGPIPE, SIG_IGN)
        MemoryDumps.forbid()
        Libcrypto.wipeFreedMemory()
        if CommandLine.arguments == [HandOverProcess.name] {
            Foundation.exit(await HandOverProcess.main { Failure($0).message })
        }
        // Swift reads the arguments from /proc. Without them we would print our help, and end with a success that loses mail.
        guard CommandLine.argc > 0 else {
            Console.error("cannot read the command line")
            Console.hint("mount /proc where this runs")
            Foundation.exit(ExitStatus.tryAgain.rawValue)
        }
        // The runtime ends the process by a signal if it cannot open what it needs for its threads.
        guard hasDescriptors(4) else {
            Console.error("too few file descriptors")
            Console.hint("raise the limit: ulimit -n 64")
            Foundation.exit(ExitStatus.tryAgain.rawValue)
        }
        if isFilter { FilterStatus.catchSignals() }
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Foundation.exit(report(error).rawValue)
        }
    }

    /// What was said on the command line; for the parser a value of nothing behind an equals sign is none.
    private static var arguments: [String] {
        let words = CommandLine.arguments.dropFirst()
        let options = words.prefix { $0 != "--" }
        return options.flatMap { $0 == "--sender=" ? ["--sender", ""] : [$0] } + words.dropFirst(options.count)
    }

    /// Whether so many files more can be opened.
    private static func hasDescriptors(_ count: Int) -> Bool {
        let probes = (0..<count).map { _ in dup(STDERR_FILENO) }.filter { $0 >= 0 }
        for probe in probes { close(probe) }
        // Without a standard error there is nothing to duplicate, and it is too late to say so.
        return probes.count == count || errno != EMFILE
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

    private static let isFilter = FilterStatus.isFilter(Array(CommandLine.arguments.dropFirst()))

    /// What to say of a first argument that is neither a verb nor an option.
    private static var unknownVerb: Failure? {
        let names = allVerbs.compactMap { $0.configuration.commandName }
        guard let name = CommandLine.arguments.dropFirst().first, !name.hasPrefix("-"), name != "help",
            !names.contains(name)
        else { return nil }
        return Failure(
            .usage,
            "unknown command '\(name)'",
            hints: ["the commands are: \(names.joined(separator: ", "))"]
        )
    }

    /// What to say of an option that the verb does not have.
    ///
    /// The parser looks at what was understood before it looks for what was not, and then takes the value of such an
    /// option for a file.
    private static func unknownOption(_ usage: String?) -> Failure? {
        var verb: any ParsableCommand.Type = SMIMECommand.self
        let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        for word in words {
            verb = verb.configuration.subcommands.first { $0.configuration.commandName == word } ?? verb
        }
        let help = helpMessage(for: verb)
        let known = Set(help.matches(of: /--[A-Za-z0-9-]+/).map { String($0.output) })
        let names = words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
        guard let name = names.first(where: { !known.contains($0) }) else { return nil }
        return Failure(.usage, "unknown option '\(name)'", hints: usage.map { [$0] } ?? [])
    }

    /// The usage line of the verb that was meant.
    private static func usageHint(for error: any Error) -> String? {
        fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Usage: ") }
            .map { "usage: " + $0.dropFirst("Usage: ".count) }
    }
}
