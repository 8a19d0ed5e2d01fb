import Foundation
import InternetMessage
import SMIMEGateway

/// Arguments that the parser would misunderstand.
///
/// The parser takes the word after `--output=` for the missing value, any cluster of letters with an h for a request
/// for help, which is a success, and the last of several values for the intended one. Each of these could lose a file
/// or a mail, so such arguments are rejected first.
package struct ArgumentCheck {
    /// The options whose value may be empty: the sender of a bounce, and the name of an account that is to have none.
    package static let maybeEmpty = ["--sender", "--name", "--from"]
    /// The options that may be repeated, as the help shows them with their values: `--to` of `store copy` takes one.
    package static let repeatable = [
        "--add-alias <addr|@domain>", "--allow <net>", "--gateway-role <role>", "--listen <role=scheme:address>",
        "--next-hop <role=smtp:address>", "--policy <oid>", "--reader-role <role>", "--remove-alias <addr|@domain>",
        "--to <addr>", "--to-cert <file>",
    ]
    /// The options with a value that have a letter, too.
    package static let longNames = ["-b": "--detached-signature", "-o": "--output", "-O": "--output-dir", "-r": "--to"]

    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// - Throws: `Failure` with status 64 for arguments that are certainly mistakes; with 78 if the environment's name
    ///   of the store is no text.
    func check() throws {
        try checkText()
        try checkEnvironment()
        for word in invocation.options where word.count > 1 && word.hasPrefix("-") {
            try checkName(word, isFirst: word == invocation.words.first)
        }
        try checkValues()
        try checkRepeats()
    }

    /// `words` with each empty value after an equals sign as a separate word: the parser would ignore it otherwise.
    static func separatingEmptyValues(in words: [String]) -> [String] {
        let options = words.prefix { $0 != "--" }
        return options.flatMap { isEmptyOption($0) ? [String($0.dropLast()), ""] : [$0] }
            + words.dropFirst(options.count)
    }

    /// A Swift string would replace bytes that are not UTF-8, and so name another file.
    private func checkText() throws {
        guard let index = invocation.malformedIndex else { return }
        let word = invocation.words[index]
        // Recipients follow `--`. A malformed one would fail again, so the mail server must not retry.
        guard !invocation.isFilter || !invocation.words[..<index].contains("--") else {
            throw GatewayRefusal.malformedRecipients([word])
        }
        throw Failure(
            .usage,
            "an argument is not UTF-8: \(word.escapedForDisplay)",
            hints: invocation.isFilter ? [] : ["give the file another name"]
        )
    }

    private func checkEnvironment() throws {
        let key = [StoreKeySource.fileVariable, StoreKeySource.programVariable, HostSettings.variable]
        for name in ["SMIME_HOME", "SMIME_STORE", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] + key {
            guard let value = getenv(name), String(validatingCString: value) == nil else { continue }
            throw Failure(.configuration, "the variable \(name) is not UTF-8: \(String(cString: value))")
        }
    }

    /// Rejects clusters of letters, which no option needs, and arguments that the parser would take for a request for
    /// help.
    private func checkName(_ word: String, isFirst: Bool) throws {
        let name = String(word.prefix { $0 != "=" })
        let isCluster = !word.hasPrefix("--") && name.count != 2
        let asks = ["-h", "--help", "--version"].contains(name) && name != word
        let isHidden = name == "--help-hidden"
        // Manual pages and completions are made with these.
        let isMisplaced = ["--generate-completion-script", "--experimental-dump-help"].contains(name) && !isFirst
        guard isCluster || asks || isHidden || isMisplaced else { return }
        throw Failure(.usage, "unknown option '\(word)'", hints: isCluster ? [Self.clusterHint(word)] : [])
    }

    private static func clusterHint(_ word: String) -> String {
        longNames[String(word.prefix(2))].map {
            "write the value of an option as a separate word: \($0) \(word.dropFirst(2))"
        }
            ?? "write a file's name as ./\(word); what follows -- is no option"
    }

    private static func isEmptyOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word.firstIndex(of: "=") == word.indices.last
    }

    private func checkValues() throws {
        let options = invocation.options
        let joined = options.filter(Self.isEmptyOption).map { String($0.prefix { $0 != "=" }) }
        let parted = zip(options, options.dropFirst()).filter { $0.0.hasPrefix("-") && $0.1.isEmpty }.map(\.0)
        guard let name = (joined + parted).first(where: { !Self.maybeEmpty.contains($0) }) else { return }
        throw Failure(.usage, "\(name): the value is empty")
    }

    private func checkRepeats() throws {
        var seen: Set<String> = []
        for word in invocation.options where word.count > 1 && word.hasPrefix("-") {
            let short = String(word.prefix { $0 != "=" })
            let name = Self.longNames[short] ?? short
            guard !seen.insert(name).inserted else { continue }
            let help = invocation.help
            let isRepeatable = Self.repeatable.contains { $0.hasPrefix("\(name) ") && help.contains($0) }
            guard !isRepeatable, help.contains("\(name) <") else { continue }
            throw Failure(.usage, "\(name) is given more than once")
        }
    }
}
