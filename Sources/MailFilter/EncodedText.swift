import Foundation
import MIME

/// Text as it stands in header fields that people read.
///
/// RFC 2047
enum EncodedText {
    /// `text` with its encoded words decoded.
    static func decode(_ text: String) -> String {
        let field = Array("Subject: \(text)\r\n".utf8)
        return (try? HeaderBlock(parsing: field))?.fields.first?.displayValue ?? text
    }

    /// `text` as it is, if it is ASCII that nobody takes for encoded words; else in encoded words of UTF-8.
    static func encode(_ text: String) -> String {
        guard text.contains("=?") || !text.utf8.allSatisfy({ 32...126 ~= $0 }) else { return text }
        var chunks = [""]
        for character in text {
            // A word has 75 characters at most: 12 around it, and 4 for each 3 bytes (RFC 2047 §2).
            if (chunks.last?.utf8.count ?? 0) + character.utf8.count > 45 { chunks.append("") }
            chunks[chunks.count - 1].append(character)
        }
        return chunks.filter { !$0.isEmpty }
            .map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: " ")
    }
}
