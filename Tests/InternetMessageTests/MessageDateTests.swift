import Foundation
import InternetMessage
import Testing

@Suite struct MessageDateTests {
    @Test(arguments: [
        ("Fri, 21 Nov 1997 09:55:06 -0600", 880_127_706), ("21 Nov 97 09:55:06 CST", 880_127_706),
        ("21 Nov 97 09(comment):   55  :  06 -0600", 880_127_706), ("Fri, 21 Nov 1997 15:55 GMT", 880_127_700),
        ("Sat, 21 Nov 2026 05:00:00 +0530", 1_795_217_400), ("21 nov 126 05:00:00 UT", 1_795_237_200),
        ("1 Jan 2026 00:00:00", 1_767_225_600), ("1 Jan 2026 00:00:00 A", 1_767_225_600),
        ("Thu, 1 Jan 2026\t00:00:00 \r\n EDT (summer (in winter))", 1_767_240_000),
        ("30 Jun 2015 23:59:60 Z", 1_435_708_799), ("29 Feb 2024 00:00:00 PST", 1_709_193_600),
    ])
    func `dates are read as in RFC 5322, obsolete forms included`(text: String, seconds: Int) {
        #expect(MessageDate(text)?.date == Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    @Test(arguments: [
        "", "yesterday", "31 Feb 2026 00:00:00 +0000", "1 Foo 2026 00:00:00 +0000", "1 Jan 2026 25:00:00 +0000",
        "1 Jan 2026 00:60:00 +0000", "1 Jan 12026 00:00:00 Z", "0 Jan 2026 00:00:00 Z", "1 Jan 2026",
        "1 Jan -5 00:00:00 Z",
        "(((((((", "Mon, ,,,,", "1 Jan 2026 00:00:00:00 Z", "29 Feb 2026 00:00:00 Z",
    ])
    func `malformed dates are refused`(text: String) { #expect(MessageDate(text) == nil) }
}

@Suite struct DisplayTextTests {
    @Test(arguments: [
        ("plain <alice@example.com>", "plain <alice@example.com>"), ("a\u{1B}[2Jb", "a\\u{1B}[2Jb"),
        ("a\u{202E}b\u{200B}c", "a\\u{202E}b\\u{200B}c"), ("пётр@пример.test", "пётр@пример.test"),
        ("Jörg Müller, Ångström", "Jörg Müller, Ångström"), ("ООО Рога и копыта", "ООО Рога и копыта"),
        // In order: a Cyrillic first letter; a wholly Cyrillic word; a domain that begins with Cyrillic letters; a full-width
        // letter, and a character that resembles @.
        ("аlice@example.com", "\\u{430}lice@example.com"), ("оса@example.com", "\\u{43E}\\u{441}\\u{430}@example.com"),
        ("alice@ехаmple.com", "alice@\\u{435}\\u{445}\\u{430}mple.com"), ("ａlice＠x", "\\u{FF41}lice\\u{FF20}x"),
        ("pαypal", "p\\u{3B1}ypal"), ("日本語test", "日本語test"), ("O=Α-Ω, ελληνικά", "O=Α-Ω, ελληνικά"),
        ("ɡoogle", "\\u{261}oogle"), ("№ 5", "№ 5"),
    ])
    func `misleading characters are escaped, ordinary ones are not`(text: String, expected: String) {
        #expect(text.escapedForDisplay == expected)
        #expect(expected.escapedForDisplay == expected)
    }

    @Test func `escaping for JSON keeps the value`() throws {
        let value = "аlice@example.com \u{202E} 𝐚lice пётр"
        let json = String(decoding: try JSONEncoder().encode([value]), as: UTF8.self).escapedForJSON
        #expect(json.unicodeScalars.allSatisfy { ![0x430, 0x202E, 0x1D41A].contains($0.value) })
        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [value])
    }
}
