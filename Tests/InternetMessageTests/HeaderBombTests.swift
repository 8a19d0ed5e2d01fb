import ByteStreams
import InternetMessage
import Testing

/// Headers that took a time that grew with the square of their size: minutes in a build without optimisation.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HeaderBombTests {
    @Test func `thirty thousand protected fields are compared with as many outside`() throws {
        let numbers = 0..<30_000
        let inner =
            "Content-Type: text/plain; hp=\"cipher\"\n" + numbers.map { "X\($0): 1\n" }.joined()
            + numbers.filter { $0 % 2 == 0 }.map { "HP-Outer: X\($0): 1\n" }.joined() + "\n"
        let outer = numbers.map { "X\($0): \($0 % 3)\n" }.joined() + "\n"
        let protected = try #require(ProtectedHeader(of: HeaderBlock(parsing: inner.bytes)))
        let names = Set(protected.differingNames(outer: try HeaderBlock(parsing: outer.bytes)))
        // Whether recorded as left there or hidden: what stands there with the value from inside was not changed.
        #expect(names == Set(numbers.filter { $0 % 3 != 1 }.map { "x\($0)" }))
    }

    @Test(arguments: ["=?", "=?a?q?z", "=?utf-8?q?=ff", "=?utf-8?b?QQ==?", "=?a?b?z ", "=?utf-8?q?a?= "])
    func `floods of beginnings of encoded words are text`(_ flood: String) throws {
        let bytes = "Subject: ".bytes + flood.bytes.flood(1_000_000) + "\n\n".bytes
        let subject = try #require(try HeaderBlock(parsing: bytes).first("Subject"))
        #expect(!subject.displayValue.isEmpty)
    }

    @Test func `sixty thousand content fields move in and out`() throws {
        let text = "Content-Type: a/b\n" + (0..<60_000).map { "Content-\($0):\n" }.joined() + "\n"
        let header = try HeaderBlock(parsing: text.bytes)
        let split = HeaderSplit(header)
        let outer = try HeaderBlock(parsing: split.outerHeader([NewField("Content-Type", "application/pkcs7-mime")]))
        let inner = try HeaderBlock(parsing: split.innerHeader)
        #expect(HeaderSplit.join(outer: outer, inner: inner) == text.bytes)
        // Somebody else's header may have as many of them outside.
        #expect(HeaderSplit.join(outer: header, inner: inner) == text.bytes)
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
