import ArgumentParser

/// The options with a value that also have a one-letter name. Their declarations take both names from here.
package enum OptionLetter: Character, CaseIterable {
    case detachedSignature = "b"
    case output = "o"
    case outputDirectory = "O"
    case to = "r"

    /// The option that the word `word` names by its letter; nil if there is none.
    init?(word: some StringProtocol) {
        guard word.count == 2, word.first == "-", let letter = word.last else { return nil }
        self.init(rawValue: letter)
    }

    /// The long name, without the dashes before it.
    package var longName: String {
        switch self {
        case .detachedSignature: "detached-signature"
        case .output: "output"
        case .outputDirectory: "output-dir"
        case .to: "to"
        }
    }
}

extension NameSpecification {
    /// The one-letter name and the long name of an option.
    static func letter(_ letter: OptionLetter) -> NameSpecification {
        [.customShort(letter.rawValue), .customLong(letter.longName)]
    }
}
