import ByteStreams
import InternetMessage
import SMIME
import Testing

/// Headers whose processing once took time quadratic in their size: minutes in a debug build.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ProtectedHeaderBombTests {
    @Test func `thirty thousand protected fields are compared with as many outside`() throws {
        let numbers = 0..<30_000
        let inner =
            "Content-Type: text/plain; hp=\"cipher\"\n" + numbers.map { "X\($0): 1\n" }.joined()
            + numbers.filter { $0 % 2 == 0 }.map { "HP-Outer: X\($0): 1\n" }.joined() + "\n"
        let outer = numbers.map { "X\($0): \($0 % 3)\n" }.joined() + "\n"
        let protected = try #require(ProtectedHeader(of: HeaderBlock(parsing: inner.bytes)))
        let names = Set(protected.differingNames(outer: try HeaderBlock(parsing: outer.bytes)))
        // Whether recorded as visible or hidden, an outer field with the same value as inside was not changed.
        #expect(names == Set(numbers.filter { $0 % 3 != 1 }.map { "x\($0)" }))
    }

    @Test func `sixty thousand content fields are moved in and out`() throws {
        let text = "Content-Type: a/b\n" + (0..<60_000).map { "Content-\($0):\n" }.joined() + "\n"
        let header = try HeaderBlock(parsing: text.bytes)
        let split = HeaderSplit(header)
        let outer = try HeaderBlock(
            parsing: split.outerHeader([NewField("Content-Type", value: "application/pkcs7-mime")])
        )
        let inner = try HeaderBlock(parsing: split.innerHeader)
        #expect(HeaderSplit.join(outer: outer, inner: inner) == text.bytes)
        // The outer header may have as many fields.
        #expect(HeaderSplit.join(outer: header, inner: inner) == text.bytes)
    }
}
