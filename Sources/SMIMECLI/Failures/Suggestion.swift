import InternetMessage

/// Finds the word that the user probably meant instead of a misspelt one.
package enum Suggestion {
    /// The most letters that may be wrong, missing, extra or swapped.
    private static let maximumDistance = 2

    /// The candidate that is closest to `word`; nil if no candidate is close enough.
    static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let ranked = candidates.map { (name: $0, distance: distance(Array(word), to: Array($0))) }
        return ranked.filter { $0.distance <= limit(word) }.min { $0.distance < $1.distance }?.name
    }

    /// The candidate that is closest to `address`, without regard to case; nil if no candidate is close enough.
    ///
    /// The parts before and after the @ are compared separately, because `al@example.org` and `bo@example.org` are two
    /// people, although most of the letters are the same.
    package static func closestAddress(to address: String, among candidates: some Sequence<String>) -> String? {
        let misspelt = parts(of: address)
        let ranked = candidates.compactMap { candidate -> (name: String, distance: Int)? in
            let known = parts(of: candidate)
            guard let local = distance(of: known.local, from: misspelt.local),
                let domain = distance(of: known.domain, from: misspelt.domain)
            else { return nil }
            return (candidate, local + domain)
        }
        // The address itself may be known for another purpose, which is no misspelling.
        return ranked.filter { (1...maximumDistance).contains($0.distance) }.min { $0.distance < $1.distance }?.name
    }

    /// The most letters that may differ from `word`: a short word with half of its letters changed is a different word.
    private static func limit(_ word: some StringProtocol) -> Int { min(maximumDistance, (word.count - 1) / 2) }

    private static func parts(of address: String) -> (local: Substring, domain: Substring) {
        let address = address.lowercased()
        guard let at = address.lastIndex(of: "@") else { return (address[...], "") }
        return (address[..<at], address[at...])
    }

    /// The distance of `known` from `word`; nil if it is above the limit.
    private static func distance(of known: Substring, from word: Substring) -> Int? {
        guard word != known else { return 0 }
        let distance = distance(Array(word), to: Array(known))
        return distance <= limit(word) ? distance : nil
    }

    /// The number of edits that turn one word into the other: inserting, removing or changing a letter, or swapping two
    /// neighbouring letters.
    private static func distance(_ left: [Character], to right: [Character]) -> Int {
        guard !left.isEmpty, !right.isEmpty, abs(left.count - right.count) <= maximumDistance else {
            return max(left.count, right.count)
        }
        var rows = [Array(0...right.count)]
        for i in 1...left.count {
            var row = [i]
            for j in 1...right.count {
                let cost = left[i - 1] == right[j - 1] ? 0 : 1
                var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    best = min(best, rows[i - 2][j - 2] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

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
