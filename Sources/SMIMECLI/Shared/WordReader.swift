import ArgumentParser

/// The words behind a verb, from which groups of options take what is theirs.
///
/// ArgumentParser learns of every option by reflection, which takes a quarter of the time of a process that handles one
/// mail. So the verbs that are started for every mail read ordinary command lines here, into the same options. What the
/// parser makes of a command line stays the rule, and a test holds this to it. Whatever is not ordinary, wishes for help and
/// mistakes among it, is left to the parser.
struct WordReader {
    /// Something is for the parser to read.
    struct Unusual: Error {}

    /// Those that nobody took yet.
    private var words: [String?]
    /// Where no options stand any more: at the first `--`, or at the end.
    private let end: Int

    init(_ words: some Collection<String>) {
        self.words = Array(words)
        end = self.words.firstIndex(of: "--") ?? self.words.count
    }

    /// Whether the flag `name` stands there.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words[..<end].firstIndex(of: name) else { return false }
        words[index] = nil
        return true
    }

    /// The value of the option that goes by one of `names`; nil if it is not there.
    mutating func value<Value: ExpressibleByArgument>(_ names: String...) throws -> Value? {
        try single(values(of: names, Value.init(argument:)))
    }

    /// The value of the option that goes by one of `names`, as `transform` makes it; nil if it is not there.
    mutating func value<Value>(_ names: String..., by transform: (String) throws -> Value) throws -> Value? {
        try single(values(of: names, transform))
    }

    /// The values of an option that may stand there several times.
    mutating func values<Value: ExpressibleByArgument>(_ names: String...) throws -> [Value] {
        try values(of: names, Value.init(argument:))
    }

    /// The options of a group.
    mutating func group<Group: WordReadable>() throws -> Group {
        var group = Group()
        try group.read(&self)
        try group.validate()
        return group
    }

    /// What belongs to no option; asked for when all options have been.
    mutating func rest() throws -> [String] {
        let (before, behind) = (words[..<end].compactMap(\.self), words[end...].dropFirst().compactMap(\.self))
        guard !before.contains(where: Self.isName) else { throw Unusual() }
        words = words.map { _ in nil }
        return before + behind
    }

    private func single<Value>(_ values: [Value]) throws -> Value? {
        guard values.count <= 1 else { throw Unusual() }
        return values.first
    }

    private mutating func values<Value>(of names: [String], _ transform: (String) throws -> Value?) throws -> [Value] {
        var values: [Value] = []
        for index in 0..<end {
            guard let text = takeValue(at: index, of: names) else { continue }
            guard let value = try transform(text) else { throw Unusual() }
            values.append(value)
        }
        return values
    }

    /// The value of the option at `index`, if it is one of `names` and stands there with a value.
    private mutating func takeValue(at index: Int, of names: [String]) -> String? {
        guard let word = words[index], Self.isName(word) else { return nil }
        if names.contains(word), index + 1 < end, let next = words[index + 1], !Self.isName(next) {
            (words[index], words[index + 1]) = (nil, nil)
            return next
        }
        guard word.hasPrefix("--"), let sign = word.firstIndex(of: "="), names.contains(String(word[..<sign])) else {
            return nil
        }
        let text = word[word.index(after: sign)...]
        guard !text.isEmpty else { return nil }
        words[index] = nil
        return String(text)
    }

    /// Whether `word` is the name of an option, and no value.
    private static func isName(_ word: String) -> Bool { word != "-" && word.hasPrefix("-") }
}

/// Options that can be filled without the parser.
protocol WordReadable: ParsableArguments {
    /// Sets every option from `words`: one that was not set may not be looked at.
    mutating func read(_ words: inout WordReader) throws
}
