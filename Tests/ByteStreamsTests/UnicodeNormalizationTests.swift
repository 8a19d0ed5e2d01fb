import ByteStreams
import Foundation
import Testing

@Suite struct UnicodeNormalizationTests {
    @Test func `every character is composed as Foundation composes it`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(scalar)
            if !text.canonicallyComposed.utf8.elementsEqual(text.precomposedStringWithCanonicalMapping.utf8) {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    @Test func `every character of Unicode 15 is decomposed as Foundation decomposes it`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age <= (15, 0) else { continue }
            let text = String(scalar)
            if !text.canonicallyDecomposed.utf8.elementsEqual(text.decomposedStringWithCanonicalMapping.utf8) {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    @Test(arguments: [
        ("e\u{301}", "\u{E9}", "e\u{301}"), ("\u{212A}", "K", "K"),
        ("a\u{323}\u{307}", "\u{1EA1}\u{307}", "a\u{323}\u{307}"),
        ("a\u{307}\u{323}", "\u{1EA1}\u{307}", "a\u{323}\u{307}"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}"),
        // Foundation does not compose this pair.
        ("\u{D558}\u{11AB}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}"), ("", "", ""),
    ])
    func `combining marks are sorted and composed`(text: String, composed: String, decomposed: String) {
        #expect(text.canonicallyComposed.utf8.elementsEqual(composed.utf8))
        #expect(text.canonicallyDecomposed.utf8.elementsEqual(decomposed.utf8))
    }
}
