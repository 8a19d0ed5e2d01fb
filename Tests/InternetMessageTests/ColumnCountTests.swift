import InternetMessage
import Testing

/// The width of text on a terminal.
@Suite struct ColumnCountTests {
    @Test(arguments: [
        ("", 0), ("Alice", 5), ("Zo\u{EB}", 3), ("Zoe\u{308}", 3), ("\u{4E2D}\u{6587}", 4), ("\u{FF21}\u{FF71}", 3),
        ("\u{D55C}\u{AE00}", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{3053}\u{3093}", 4), ("\u{1F600}", 2),
        ("\u{1F1E9}\u{1F1EA}", 2), ("\u{20000}", 2), ("\u{2026}", 1), ("\u{2713}", 1), ("\u{5D0}\u{5B0}", 1),
        ("\u{4DC0}", 1),
    ])
    func `wide characters count twice, and marks not at all`(text: String, columns: Int) {
        #expect(text.columnCount == columns)
    }

    @Test(arguments: [
        ("Alice", 3, "Ali"), ("Alice", 9, "Alice"), ("\u{4E2D}\u{6587}", 3, "\u{4E2D}"), ("\u{4E2D}\u{6587}", 1, ""),
        ("e\u{301}e\u{301}", 1, "e\u{301}"), ("Alice", 0, ""),
    ])
    func `a text is cut between characters, never in the middle of a wide one`(
        text: String,
        columns: Int,
        beginning: String
    ) {
        #expect(text.prefix(columns: columns) == beginning)
    }
}
