/// Compares words as a reader sees them at a glance.
///
/// It works on the text of a `SubjectSkeleton`, which is in lower case.
enum ConfusableWord {
    /// `word` with digits as the letters that they resemble, `l` as `i`, and pairs of letters as the one letter that they look like.
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

    /// Whether people may take `seen` for `word`, both folded. A character without a known ASCII look-alike may be any letter, if
    /// at least half of the word is in ASCII.
    static func isTaken(_ seen: String, for word: String) -> Bool {
        if seen == word { return true }
        return mayBeTaken(seen) && seen.count == word.count && zip(seen, word).allSatisfy { $0 == $1 || !$0.isASCII }
    }

    /// Whether people may take `seen`, folded, for another word of ASCII letters, whichever that is.
    static func mayBeTaken(_ seen: String) -> Bool {
        guard !seen.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return seen.count(where: { !$0.isASCII }) * 2 <= seen.count
    }

    private static let letters: [Character: Character] = [
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g", "l": "i",
    ]
    /// With `i` for `l`.
    private static let pairs: [String: Character] = ["ci": "d", "rn": "m", "vv": "w"]
}
