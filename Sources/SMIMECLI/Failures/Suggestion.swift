/// Finds the word that the user probably meant instead of a misspelt one.
enum Suggestion {
    /// The most letters that may be wrong, missing, extra or swapped.
    private static let maximumDistance = 2

    /// The candidate that is closest to `word`; nil if no candidate is close enough.
    static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        // A short word with half of its letters changed is a different word.
        let limit = min(maximumDistance, (word.count - 1) / 2)
        let ranked = candidates.map { (name: $0, distance: distance(Array(word), to: Array($0))) }
        return ranked.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
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
