import InternetMessage
import Testing

@Suite struct EncodedWordTests {
    @Test func `a character with very many marks is divided among encoded words of 75 characters`() throws {
        let text =
            "a" + String(repeating: "e\u{301}\u{302}\u{303}" + String(repeating: "\u{304}", count: 60), count: 3) + "z"
        let encoded = EncodedWord.encode(text)
        #expect(encoded.split(separator: " ").allSatisfy { $0.utf8.count <= 75 })
        #expect(EncodedWord.decode(encoded) == text)
    }

    @Test(arguments: [
        ("=?utf-8*en?Q?a_b?=", "a b"), ("=?utf-8?Q??=", ""), ("=?utf-8?Q?what??= =?utf-8?q?x?=", "what?x"),
        ("=?utf-8?Q?a b?=", "=?utf-8?Q?a b?="), ("é =?utf-8?B?w6k=?= é", "é é é"), ("=?=?utf-8?q?a?=", "=?a"),
        ("=?utf-8?qq?a?=", "=?utf-8?qq?a?="), (" =?utf-8?q?a?= \t=?utf-8?q?b?= ", " ab "),
        ("=?utf-8?q?\(String(repeating: "x", count: 600))?=", "=?utf-8?q?\(String(repeating: "x", count: 600))?="),
    ])
    func `only well-formed encoded words are decoded`(text: String, expected: String) {
        #expect(EncodedWord.decode(text) == expected)
    }
}
