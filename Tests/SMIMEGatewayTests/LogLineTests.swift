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

    @Test func `long texts that do not fit into the first line continue in further lines, and it keeps the rest`() {
        var line = LogLine()
        line.add("direction", "outgoing")
        line.add("queue_id", "Q1")
        line.add("sender", "a@x.test")
        line.addDetail("cipher", ["aes-256-gcm"])
        let warnings = (1...10).map { "\($0) \(String(repeating: "w", count: 950))" }
        let lines = line.lines(status: "sent", warnings: warnings, milliseconds: "7")
        #expect(lines.count == 10 && lines.allSatisfy { $0.utf8.count < 2000 }, "\(lines.map(\.utf8.count))")
        #expect(lines[0].hasPrefix("direction=outgoing queue_id=Q1 sender=a@x.test status=sent warning=\"1 w"))
        #expect(lines[0].hasSuffix("w\" ms=7 cipher=aes-256-gcm"))
        for (number, text) in zip(2..., lines.dropFirst()) {
            #expect(text.hasPrefix("direction=outgoing queue_id=Q1 line=\(number) warning=\"\(number) w"))
        }
    }
}
