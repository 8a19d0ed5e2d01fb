import SMIMEGateway
import Testing

/// A value in the log cannot be mistaken for another key-value pair.
@Suite struct LogLineTests {
    @Test(
        arguments: [
            ("plain", "k=plain"), ("", "k=\"\""), ("two words", "k=\"two words\""), ("a=b", "k=\"a=b\""),
            ("say \"no\"", "k=\"say 'no'\""),
            // A combining mark forms one character with the preceding quote.
            ("a\"\u{301} status=delivered", "k=\"a'\u{301} status=delivered\""), ("a\"\u{301}b", "k=\"a'\u{301}b\""),
            ("a=\u{301}b", "k=\"a=\u{301}b\""), ("a \u{301}b", "k=\"a \u{301}b\""),
        ]
    )
    func `a value that could be taken for more than one is quoted`(value: String, text: String) {
        var line = LogLine()
        line.add("k", value)
        #expect(line.text.unicodeScalars.elementsEqual(text.unicodeScalars), "\(line.text)")
    }
}
