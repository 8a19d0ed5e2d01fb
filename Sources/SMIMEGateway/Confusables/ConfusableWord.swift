/// Compares words by their appearance at a glance.
///
/// The words are parts of the text of a `SubjectSkeleton`, which is in lower case.
enum ConfusableWord {
    /// `word` with digits replaced by the letters that they resemble, `l` by `i`, and pairs of letters by the single letter
    /// that they resemble.
    ///
    /// UTS #39 §4
    static func folded(_ word: String) -> String {
        var output = ""
        for character in word {
            let letter = letters[character] ?? character
            if let last = output.last, let merged = pairs["\(last)\(letter)"] {
                output.removeLast()
                output.append(merged)
            } else {
                output.append(letter)
            }
        }
        return output
    }

    /// Whether people may mistake `seen` for `word`; both are folded. A character that resembles no known ASCII character
    /// may stand for any letter, if at least half of the word is in ASCII.
    static func isTaken(_ seen: String, for word: String) -> Bool {
        if seen == word { return true }
        return mayBeTaken(seen) && seen.count == word.count && zip(seen, word).allSatisfy { $0 == $1 || !$0.isASCII }
    }

    /// Whether people may mistake `seen`, which is folded, for some word of ASCII letters.
    static func mayBeTaken(_ seen: String) -> Bool {
        guard !seen.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return seen.count(where: { !$0.isASCII }) * 2 <= seen.count
    }

    private static let letters: [Character: Character] = [
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g", "l": "i",
    ]
    /// Pairs of letters with the letter that they resemble. They contain `i` instead of `l`.
    private static let pairs: [String: Character] = ["ci": "d", "rn": "m", "vv": "w"]
}
