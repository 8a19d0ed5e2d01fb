import Foundation
import InternetMessage
import Testing

@Suite struct CompatibilityNormalizationTests {
    @Test func `every character is normalized as Foundation does it`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age <= (15, 0) else { continue }
            let text = String(scalar)
            if !text.compatiblyComposed.utf8.elementsEqual(text.precomposedStringWithCompatibilityMapping.utf8) {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    @Test(arguments: [
        ("ａ＠ｂ．ｃ", "a@b.c"), ("ﬁ", "fi"), ("ｶﾞ", "ガ"), ("①", "1"), ("\u{FDFA}", "صلى الله عليه وسلم"), ("plain", "plain"),
        ("e\u{301}", "\u{E9}"),
    ])
    func `compatibility characters become the usual ones`(text: String, composed: String) {
        #expect(text.compatiblyComposed.utf8.elementsEqual(composed.utf8))
    }
}
