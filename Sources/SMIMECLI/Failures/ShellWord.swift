import InternetMessage

extension DefaultStringInterpolation {
    /// Writes `value` as one word of a shell's command line, so that a command in a hint can be copied. Without quoting, an
    /// address in a mail could be written so that the shell runs another command.
    mutating func appendInterpolation(shell value: some CustomStringConvertible) {
        let word = value.description
        let isPlain = !word.isEmpty && !word.utf8.contains { !ShellWord.plain.contains($0) }
        appendLiteral(isPlain ? word : "'\(word.replacing(scalar: "'", with: "'\\''"))'")
    }
}

private enum ShellWord {
    /// Characters that no shell treats specially in any place of a word.
    static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+:,./_-".utf8)
}
