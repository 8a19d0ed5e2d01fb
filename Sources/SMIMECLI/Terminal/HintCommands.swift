/// The commands of smime in a hint, as distinct from file names and prose that contain the word.
struct HintCommands {
    private let hint: String

    init(_ hint: String) { self.hint = hint }

    /// What stands in front of a command.
    private static let leads = [": ", "; ", "`", "&& ", "| ", "or ", "see ", "then "]
    private static let program = "smime "

    /// The hint with `options` directly after the program's name in each of its commands.
    func text(inserting options: String) -> String {
        var text = ""
        var rest = hint[...]
        while let first = rest.first {
            if let quoted = Self.quotedWord(rest, after: text) {
                text += quoted
                rest = rest.dropFirst(quoted.count)
            } else if rest.hasPrefix(Self.program), text.isEmpty || Self.leads.contains(where: text.hasSuffix) {
                text += Self.program + options
                rest = rest.dropFirst(Self.program.count)
            } else {
                text.append(first)
                rest = rest.dropFirst()
            }
        }
        return text
    }

    /// The part in quotes with which `rest` begins; nil if it does not begin with an opening quote. A quote after a
    /// letter is an apostrophe, and one after a backslash is part of a file name.
    private static func quotedWord(_ rest: Substring, after text: String) -> Substring? {
        guard rest.first == "'", text.last?.isLetter != true, text.last != "\\",
            let end = rest.dropFirst().firstIndex(of: "'")
        else { return nil }
        return rest[...end]
    }
}
