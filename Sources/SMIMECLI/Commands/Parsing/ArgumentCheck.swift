import Foundation
import InternetMessage
import SMIMEGateway

/// Finds arguments that the parser would misunderstand.
///
/// The parser would misunderstand three kinds of arguments:
///
/// - `--output=`: the parser would use the next word as the missing value.
/// - combined short options with an h: the parser would show the help and end with success.
/// - a repeated option: the parser would use the last value.
///
/// Each of these could lose a file or a mail, so such arguments are rejected before parsing.
package struct ArgumentCheck {
    /// The options whose value may be empty: an empty sender is the null sender, an empty name removes the account's
    /// name.
    package static let maybeEmpty = ["--sender", "--name", "--from"]

    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// - Throws: `Failure` with status 64 for arguments that are certainly mistakes; with 78 if an environment variable that
    ///   names the store or its key is not UTF-8; `GatewayRefusal` if a recipient of `filter` is not UTF-8.
    func check() throws {
        try checkText()
        try checkEnvironment()
        for word in invocation.options where word.count > 1 && word.hasPrefix("-") {
            try checkName(word, isFirst: word == invocation.words.first)
        }
        try checkValues()
        try checkRepeats()
    }

    /// `words` with `--option=` split into `--option` and an empty word, because the parser would use the next word as the
    /// value.
    static func separatingEmptyValues(in words: [String]) -> [String] {
        let options = words.prefix { $0 != "--" }
        return options.flatMap { isEmptyOption($0) ? [String($0.dropLast()), ""] : [$0] }
            + words.dropFirst(options.count)
    }

    /// Rejects arguments that are not UTF-8: a Swift string would replace their invalid bytes, and so name another file.
    private func checkText() throws {
        guard let index = invocation.malformedIndex else { return }
        let word = invocation.words[index]
        // Recipients follow `--`. The mail server must not retry because of a malformed recipient, which would fail again.
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

    /// Rejects combined short options (`-abc`), which are never necessary, and arguments that the parser would treat as
    /// a request for help.
    private func checkName(_ word: String, isFirst: Bool) throws {
        let name = String(word.prefix { $0 != "=" })
        let areCombined = !word.hasPrefix("--") && name.count != 2
        let asks = ["-h", "--help", "--version"].contains(name) && name != word
        let isHidden = name == "--help-hidden"
        // Manual pages and completions are generated with these options.
        let isMisplaced = ["--generate-completion-script", "--experimental-dump-help"].contains(name) && !isFirst
        guard areCombined || asks || isHidden || isMisplaced else { return }
        throw Failure(.usage, "unknown option '\(word)'", hints: areCombined ? [Self.combinedOptionsHint(word)] : [])
    }

    private static func combinedOptionsHint(_ word: String) -> String {
        OptionLetter(word: word.prefix(2)).map {
            "write the value of an option as a separate word: --\($0.longName) \(word.dropFirst(2))"
        }
            ?? "write a file's name as ./\(word); words after -- are not options"
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
            let name = OptionLetter(word: short).map { "--\($0.longName)" } ?? short
            guard !seen.insert(name).inserted else { continue }
            guard let entry = HelpEntry(of: name, in: invocation.help), entry.hasValue, !entry.mayBeRepeated else {
                continue
            }
            throw Failure(.usage, "\(name) is given more than once")
        }
    }
}
