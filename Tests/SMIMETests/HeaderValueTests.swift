import Foundation
import SMIME
import Testing

/// Header values in the public interface.
@Suite struct HeaderValueTests {
    @Test func `a header says its subject, addresses and date decoded`() throws {
        let subject = "Grüße aus Köln"
        let text = """
            From: Alice <alice@example.com>
            To: friends: bob@example.com, Carol <carol@example.com>;
            Cc: dave@example.com, not an address
            Subject: \(EncodedWord.encode(subject))
            Date: Sun, 01 Nov 2026 02:26:40 +0000

            Hello
            """
        let header = try Message(text.utf8).header
        #expect(header.subject == subject)
        #expect(header.from.map(\.text) == ["alice@example.com"])
        #expect(header.to.map(\.text) == ["bob@example.com", "carol@example.com"])
        #expect(header.cc.map(\.text) == ["dave@example.com"])
        #expect(header.date == Date(timeIntervalSince1970: 1_793_500_000))
        let empty = try Message("\n".utf8).header
        #expect(empty.subject == nil && empty.date == nil)
        #expect(empty.from.isEmpty && empty.to.isEmpty && empty.cc.isEmpty)
        #expect(EncodedWord.encode("Hello") == "Hello")
    }
}
