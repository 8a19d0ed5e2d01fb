extension DefaultStringInterpolation {
    /// Writes `value` as one word of a shell's command line, so that a command in a hint can be copied: an address that came with
    /// a mail may be written to run another one.
    mutating func appendInterpolation(shell value: some CustomStringConvertible) {
        let word = value.description
        let isPlain = !word.isEmpty && !word.utf8.contains { !ShellWord.plain.contains($0) }
        appendLiteral(isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'")
    }
}

private enum ShellWord {
    /// Characters that no shell treats specially, anywhere in a word.
    static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+:,./_-".utf8)
}
