import ArgumentParser
import Foundation
import MIME

/// The words of the command line as the parser may see them.
///
/// The parser takes the word behind `--output=` for the value that is missing there, any cluster of letters with an h in it for
/// a wish for help, which is a success, and the last of several values for the one that was meant. Each of these loses a
/// file or a mail, so such words are refused before it sees them.
enum CommandWords {
    /// The options whose value may be empty: the sender of a bounce, and the name of an account that is to have none.
    private static let maybeEmpty = ["--sender", "--name", "--from"]
    /// The options that may stand there several times.
    private static let repeatable = [
        "--add-alias", "--policy", "--remove-alias", "--to", "--to-cert",
    ]
    private static let longNames = ["-b": "--detached-signature", "-o": "--output", "-O": "--output-dir", "-r": "--to"]

    /// The words behind the program's name.
    ///
    /// - Parameter help: the help of the verb that is called, asked for if an option stands there twice.
    /// - Throws: `Failure` with status 64 for words that nobody can have meant; with 78 if the environment's name of the
    ///   store is no text.
    static func checked(help: () -> String) throws -> [String] {
        let words = try readWords()
        try checkEnvironment()
        let options = words.prefix { $0 != "--" }
        for word in options where word.count > 1 && word.hasPrefix("-") {
            try checkName(word, isFirst: word == words[0])
        }
        try checkValues(options)
        try checkRepeats(options, help)
        // For the parser a value of nothing behind an equals sign is none.
        return options.flatMap { isEmptyOption($0) ? [String($0.dropLast()), ""] : [$0] }
            + words.dropFirst(options.count)
    }

    /// Bytes that are no UTF-8 would become others on their way through a string, and name another file.
    private static func readWords() throws -> [String] {
        var words: [String] = []
        for word in ProgramArguments.words.dropFirst() {
            guard let text = String(validating: word, as: UTF8.self) else {
                let shown = String(decoding: word, as: UTF8.self)
                // Behind the `--` stand recipients: no second attempt would make an address of it.
                guard !SMIMECommand.isFilter || !words.contains("--") else {
                    throw Failure(.noUser, "5.1.3 not an address: \(shown.escapedForDisplay)")
                }
                throw Failure(
                    .usage,
                    "an argument is no UTF-8: \(shown.escapedForDisplay)",
                    hints: SMIMECommand.isFilter ? [] : ["give the file another name"]
                )
            }
            words.append(text)
        }
        return words
    }

    private static func checkEnvironment() throws {
        for name in ["SMIME_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            guard let value = getenv(name), String(validatingCString: value) == nil else { continue }
            throw Failure(.configuration, "the variable \(name) is no UTF-8: \(String(cString: value))")
        }
    }

    /// Refuses clusters of letters, of which we have none, and what would be taken for a wish for help.
    private static func checkName(_ word: String, isFirst: Bool) throws {
        let name = String(word.prefix { $0 != "=" })
        let isCluster = !word.hasPrefix("--") && name.count != 2
        let asks = ["-h", "--help", "--version"].contains(name) && name != word
        let isHidden = name == "--help-hidden"
        // What manuals and completions are made from.
        let isMisplaced = ["--generate-completion-script", "--experimental-dump-help"].contains(name) && !isFirst
        guard isCluster || asks || isHidden || isMisplaced else { return }
        throw Failure(.usage, "unknown option '\(word)'", hints: isCluster ? [clusterHint(word)] : [])
    }

    private static func clusterHint(_ word: String) -> String {
        longNames[String(word.prefix(2))].map { "the value of an option stands apart: \($0) \(word.dropFirst(2))" }
            ?? "write a file's name as ./\(word); what stands behind -- is no option"
    }

    private static func isEmptyOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word.firstIndex(of: "=") == word.indices.last
    }

    private static func checkValues(_ options: ArraySlice<String>) throws {
        let joined = options.filter(isEmptyOption).map { String($0.prefix { $0 != "=" }) }
        let parted = zip(options, options.dropFirst()).filter { $0.0.hasPrefix("-") && $0.1.isEmpty }.map(\.0)
        guard let name = (joined + parted).first(where: { !maybeEmpty.contains($0) }) else { return }
        throw Failure(.usage, "\(name): the value is empty")
    }

    private static func checkRepeats(_ options: ArraySlice<String>, _ help: () -> String) throws {
        var seen: Set<String> = []
        for word in options where word.count > 1 && word.hasPrefix("-") {
            let short = String(word.prefix { $0 != "=" })
            let name = longNames[short] ?? short
            guard !seen.insert(name).inserted, !repeatable.contains(name), help().contains("\(name) <") else {
                continue
            }
            throw Failure(.usage, "\(name) stands there more than once")
        }
    }
}
