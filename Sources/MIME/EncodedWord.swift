import Foundation
import Streams

/// Encoded words in header fields: `=?charset?Q?text?=`.
///
/// RFC 2047
package enum EncodedWord {
    /// `text` as it is, if it is ASCII that nobody takes for encoded words; else in encoded words of UTF-8.
    package static func encode(_ text: String) -> String {
        guard mayHoldWords(text) || !text.utf8.allSatisfy({ 32...126 ~= $0 }) else { return text }
        var chunks = [""]
        for character in text {
            // A word has 75 characters at most: 12 around it, and 4 for each 3 bytes (RFC 2047 §2).
            if (chunks.last?.utf8.count ?? 0) + character.utf8.count > 45 { chunks.append("") }
            chunks[chunks.count - 1].append(character)
        }
        return chunks.filter { !$0.isEmpty }
            .map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: " ")
    }

    /// `text` with its encoded words decoded; what cannot be decoded stays as it is.
    package static func decode(_ text: String) -> String {
        guard mayHoldWords(text) else { return text }
        var decoded = ""
        var blanks = Substring()
        var followsWord = false
        var rest = text[...]
        while !rest.isEmpty {
            if let (word, count) = word(at: rest) {
                // Blanks between two encoded words are not part of the text (RFC 2047 §6.2).
                if !followsWord { decoded += blanks }
                decoded += word
                (blanks, followsWord) = ("", true)
                rest = rest.dropFirst(count)
            } else if rest.first == " " || rest.first == "\t" {
                blanks = rest.prefix { $0 == " " || $0 == "\t" }
                rest = rest.dropFirst(blanks.count)
            } else {
                let plain = rest.prefix(1) + rest.dropFirst().prefix { $0 != "=" && $0 != " " && $0 != "\t" }
                decoded += blanks + plain
                (blanks, followsWord) = ("", false)
                rest = rest.dropFirst(plain.count)
            }
        }
        return decoded + blanks
    }

    /// Whether the beginning of a word stands somewhere; looking for it as text takes far longer, and is done for each field.
    private static func mayHoldWords(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { $0 == UInt8(ascii: "=") && $1 == UInt8(ascii: "?") }
    }

    private static func word(at text: Substring) -> (String, count: Int)? {
        let limited = text.prefix(512)
        guard limited.hasPrefix("=?") else { return nil }
        let pieces = limited.dropFirst(2).split(separator: "?", maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, let end = pieces[2].range(of: "?=") else { return nil }
        let encoded = pieces[2][..<end.lowerBound]
        guard !encoded.contains(" ") else { return nil }
        let charset = pieces[0].split(separator: "*").first.map(String.init) ?? ""
        let bytes: [UInt8]
        switch pieces[1].lowercased() {
        case "b":
            guard let decoded = try? Array(base64: encoded.utf8) else { return nil }
            bytes = decoded
        case "q": bytes = PercentDecoding.decode(encoded.utf8, escape: UInt8(ascii: "="), underscoreIsSpace: true)
        default: return nil
        }
        guard let word = Charset.decode(bytes, charset: charset) else { return nil }
        return (word, 4 + pieces[0].count + pieces[1].count + encoded.count + 2)
    }
}

/// Text in the character sets that mail names (RFC 2978).
enum Charset {
    /// `bytes` as text, or nil if the character set is unknown or they are not of it.
    static func decode(_ bytes: [UInt8], charset: String) -> String? {
        switch charset.lowercased() {
        case "utf-8", "utf8", "us-ascii", "": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case let name: return encoding(name).flatMap { String(data: Data(bytes), encoding: $0) }
        }
    }

    private static func encoding(_ name: String) -> String.Encoding? {
        switch name {
        case "iso-8859-2": .isoLatin2
        case "windows-1250": .windowsCP1250
        case "windows-1251": .windowsCP1251
        case "windows-1252": .windowsCP1252
        case "windows-1253": .windowsCP1253
        case "windows-1254": .windowsCP1254
        case "iso-2022-jp": .iso2022JP
        case "euc-jp": .japaneseEUC
        case "shift_jis": .shiftJIS
        case "utf-16": .utf16
        case "utf-16be": .utf16BigEndian
        case "utf-16le": .utf16LittleEndian
        default: nil
        }
    }
}

/// Bytes written as an escape character and two hexadecimal digits.
enum PercentDecoding {
    /// The bytes that `text` stands for; an escape without two digits stays as it is.
    static func decode(_ text: some Collection<UInt8>, escape: UInt8, underscoreIsSpace: Bool = false) -> [UInt8] {
        let text = Array(text)
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == escape, index + 2 < text.count, let high = text[index + 1].hexValue,
                let low = text[index + 2].hexValue
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(underscoreIsSpace && text[index] == UInt8(ascii: "_") ? UInt8(ascii: " ") : text[index])
                index += 1
            }
        }
        return bytes
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
