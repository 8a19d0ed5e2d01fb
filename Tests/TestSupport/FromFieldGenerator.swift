import Foundation

/// Makes bodies of From fields: regular forms of `carol@x.org`, and forms that programs read differently.
public enum FromFieldGenerator {
    /// The pieces of the fields: regular ones, and those that parsers read differently.
    private static let pieces = [
        "carol", "Team", "J.", "x.y", "=?utf-8?q?Team=2C_x?=", "=?utf-8?b?PGFAYi5jPg==?=", "=?utf-8?q?a?=", "J\u{F6}rg",
        "O'Brien", "\"Team, Carol\"", "\"a\\\"b\"", "\"\"", "\"a;b:c\"", "\"a(b\"", "\"a\\\\\"", "(c)", "(a(b)c)",
        "(a\\)b)",
        "(a, b)", "(a\"b)", "(a;b:c)", "(=?utf-8?q?=29?=)", "()", "<carol@x.org>", "<bob@y.org>", "carol@x.org",
        "<\"a b\"@x.org>", "\"carol\"@x.org", "carol@b\u{FC}cher.example", "<@a.b:carol@x.org>", "carol@[192.0.2.1]",
        "Friends:",
        " ", " ", " ", " ", "\t", "\r\n ", ",", ";", ":", "<", ">", "@", ".", "\\", "\"", "(", ")", "[", "]", "=?",
        "?=",
        "\u{A0}", "\u{B}", "\r", "\u{0}", "\u{2028}", "-", "x@y", "@x.org",
    ]

    private static let frames: [[String]] = [
        ["carol@x.org"], ["<carol@x.org>"], ["Carol", " ", "<carol@x.org>"], ["\"Team, Carol\"", " ", "<carol@x.org>"],
        ["Carol", " ", "J.", " ", "\"x\"", " ", "<", "carol", "@", "x.org", ">"], ["carol@x.org", " ", "(Carol)"],
        ["(c)", "carol", "(d)", "@", "(e)", "x.org", " "], ["=?utf-8?q?Team=2C_x?=", "\r\n ", "<carol@x.org>"],
    ]

    /// The body of a field: a regular form with some pieces inserted, removed or changed, or a random sequence of pieces.
    public static func body(_ random: inout SeededGenerator) -> String {
        var words = frames.randomElement(using: &random) ?? []
        if Int.random(in: 0..<8, using: &random) == 0 { words = [] }
        let changes = words.isEmpty ? Int.random(in: 1...8, using: &random) : Int.random(in: 0...3, using: &random)
        for _ in 0..<changes {
            let place = Int.random(in: 0...words.count, using: &random)
            let piece = pieces.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where place < words.count: words.remove(at: place)
            case 1 where place < words.count: words[place] = piece
            default: words.insert(piece, at: place)
            }
        }
        return words.joined()
    }

    /// Like `body(_:)`, for another address.
    public static func body(of address: String, _ random: inout SeededGenerator) -> String {
        let parts = address.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return body(&random) }
        return body(&random).replacingOccurrences(of: "carol", with: parts[0])
            .replacingOccurrences(of: "x.org", with: parts[1])
    }
}
