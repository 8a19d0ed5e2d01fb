import ByteStreams
import InternetMessage
import TestSupport
import Testing

/// Headers whose processing once took time quadratic in their size: minutes in a debug build.
@Suite(.serialized, .timeLimit(.minutes(15))) struct HeaderBombTests {
    @Test(arguments: ["=?", "=?a?q?z", "=?utf-8?q?=ff", "=?utf-8?b?QQ==?", "=?a?b?z ", "=?utf-8?q?a?= "])
    func `floods of incomplete encoded words are plain text`(_ flood: String) throws {
        let bytes = "Subject: ".bytes + flood.bytes.flood(1_000_000) + "\n\n".bytes
        let subject = try #require(try HeaderBlock(parsing: bytes).first("Subject"))
        #expect(!subject.displayValue.isEmpty)
    }

    @Test func `a header of carriage returns, and a Content-Type of comments and names, are read in one pass`() throws {
        let returns = "A: b" + String(repeating: "\r", count: 900_000) + "c\n\n"
        #expect(try HeaderBlock(parsing: Array(returns.utf8)).defects.isSuperset(of: [.bareCR, .hiddenFields]))
        let names = (0..<990).map { "p\($0)=x; " }.joined()
        let comment = "(" + String(repeating: "x ", count: 400_000) + ")"
        let type = try #require(ContentType("multipart/mixed; \(names)\(comment)"))
        #expect(type.parameters.names.count == 990 && type.parameters.irregularities.isEmpty)
    }
}
