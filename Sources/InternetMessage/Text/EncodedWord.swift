import ByteStreams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encoded words in header fields: `=?charset?Q?text?=`.
///
/// RFC 2047
public enum EncodedWord {
    /// Encodes `text` for a header field. Printable ASCII without `=?` is unchanged; other text becomes encoded words in
    /// UTF-8.
    public static func encode(_ text: String) -> String {
        guard mayHoldWords(text) || !text.utf8.allSatisfy({ 32...126 ~= $0 }) else { return text }
        var chunks = [""]
        for character in text {
            // A character is divided only if it is longer than a word.
            let pieces =
                character.utf8.count > maximumCount ? character.unicodeScalars.map(String.init) : ["\(character)"]
            for piece in pieces {
                if (chunks.last?.utf8.count ?? 0) + piece.utf8.count > maximumCount { chunks.append("") }
                chunks[chunks.count - 1] += piece
            }
        }
        return chunks.filter { !$0.isEmpty }
            .map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: " ")
    }

    /// The maximum number of bytes in one word. A word has at most 75 characters: 12 around the base64 text, and 4 for each 3
    /// bytes (RFC 2047 §2).
    private static let maximumCount = 45

    /// How to treat words in unknown character sets, or with bytes that are invalid in their character set.
    package enum UndecodableTreatment {
        /// The bytes of the words are read as UTF-8, for callers that search for ASCII text.
        case readAsUTF8
        /// The words are not changed.
        case kept
        /// In UTF-8 and US-ASCII, invalid bytes become U+FFFD. In any other character set, the whole word becomes one U+FFFD.
        /// Nothing remains that another program may decode.
        case replaced
    }

    /// Decodes the encoded words in `text`.
    ///
    /// - Parameter treatment: what happens to words in unknown character sets, or with bytes that are invalid in their
    ///   character set.
    package static func decode(_ text: String, undecodable treatment: UndecodableTreatment = .kept) -> String {
        guard mayHoldWords(text) else { return text }
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var position = 0
        var blanks = 0..<0
        var followsWord = false
        while position < bytes.count {
            if let (word, end) = word(at: position, in: bytes, treatment) {
                // Blanks between two encoded words are not part of the text (RFC 2047 §6.2).
                if !followsWord { decoded += bytes[blanks] }
                decoded += word.utf8
                (blanks, followsWord) = (end..<end, true)
                position = end
            } else if bytes[position].isBlank {
                blanks = position..<(bytes[position...].firstIndex { !$0.isBlank } ?? bytes.count)
                position = blanks.upperBound
            } else {
                let rest = bytes[(position + 1)...]
                let end = rest.firstIndex { $0 == UInt8(ascii: "=") || $0.isBlank } ?? bytes.count
                decoded += bytes[blanks] + bytes[position..<end]
                (blanks, followsWord) = (end..<end, false)
                position = end
            }
        }
        return String(decoding: decoded + bytes[blanks], as: UTF8.self)
    }

    /// Decodes everything in `text` that some program may interpret as an encoded word, including words that are too long,
    /// incomplete, or contain blanks. Nil if a word cannot be decoded and its character set may encode ASCII differently.
    ///
    /// The result is only meant to be searched.
    package static func decodeLoosely(_ text: String) -> String? {
        struct UnknownCharset: Error {}
        do throws(UnknownCharset) {
            return try decodeLoosely(text) { _ throws(UnknownCharset) in throw UnknownCharset() }
        } catch { return nil }
    }

    /// As ``decodeLoosely(_:)``, but reads words in such a character set as UTF-8, which contains ASCII.
    package static func decodeAssumingASCII(_ text: String) -> String {
        decodeLoosely(text) { String(decoding: $0, as: UTF8.self) }
    }

    /// - Parameter unknown: reads the bytes of a word that cannot be decoded and whose character set may encode ASCII
    ///   differently.
    private static func decodeLoosely<Failure>(
        _ text: String,
        unknown: ([UInt8]) throws(Failure) -> String
    ) throws(Failure) -> String {
        guard mayHoldWords(text) else { return text }
        var decoded = ""
        var rest = Array(text.utf8)[...]
        while let start = rest.indices.dropLast().first(where: { rest[$0...].starts(with: "=?".utf8) }) {
            let pieces = rest[(start + 2)...].split(
                separator: UInt8(ascii: "?"),
                maxSplits: 2,
                omittingEmptySubsequences: false
            )
            guard pieces.count == 3, pieces[1].count == 1, let encoding = pieces[1].first?.lowercased else {
                decoded += String(decoding: rest[..<(start + 2)], as: UTF8.self)
                rest = rest[(start + 2)...]
                continue
            }
            let words = pieces[2]
            let end = words.indices.dropLast().first { words[$0...].starts(with: "?=".utf8) }
            let content = words[..<(end ?? words.endIndex)]
            let charset = String(decoding: pieces[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self)
            let forms =
                encoding == UInt8(ascii: "q")
                ? [PercentDecoding.decode(content, escape: UInt8(ascii: "="), underscoreIsSpace: true)]
                : looseForms(of: content)
            decoded += String(decoding: rest[..<start], as: UTF8.self)
            for (index, bytes) in forms.enumerated() {
                let known = Charset.decode(bytes, charset: charset) ?? Charset.readAsASCII(bytes, charset: charset)
                let read = if let known { known } else { try unknown(bytes) }
                decoded += (index == 0 ? "" : " ") + read
            }
            rest = end.map { words[($0 + 2)...] } ?? []
        }
        return decoded + String(decoding: rest, as: UTF8.self)
    }

    /// The bytes that some program may read in the base64 text `content`: one form if the text is valid. Otherwise characters
    /// outside of the alphabet are ignored, and padding before the end is ignored, too, or begins a new group (RFC 2045 §6.8).
    private static func looseForms(of content: ArraySlice<UInt8>) -> [[UInt8]] {
        if let bytes = try? Array(base64: content) { return [bytes] }
        let groups = content.filter { $0.base64Value != nil || $0 == UInt8(ascii: "=") }
            .split(separator: UInt8(ascii: "=")).flatMap { groupedBase64(Array($0)) }
        return [groups, groupedBase64(Array(content))]
    }

    /// The bytes of characters of the base64 alphabet. A last group that is incomplete gives the bytes that it has.
    private static func groupedBase64(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var (group, count): (UInt32, Int) = (0, 0)
        for value in text.compactMap(\.base64Value) {
            group = group << 6 | UInt32(value)
            count += 1
            guard count == 4 else { continue }
            bytes += [
                UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8),
                UInt8(truncatingIfNeeded: group),
            ]
            (group, count) = (0, 0)
        }
        if count > 1 { bytes.append(UInt8(truncatingIfNeeded: group >> (6 * count - 8))) }
        if count > 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 2)) }
        return bytes
    }

    /// Whether the text contains the bytes `=?`. The search compares bytes, because it runs for each field.
    private static func mayHoldWords(_ text: String) -> Bool {
        var last = UInt8(ascii: " ")
        for byte in text.utf8 {
            if last == UInt8(ascii: "="), byte == UInt8(ascii: "?") { return true }
            last = byte
        }
        return false
    }

    /// The decoded word at `start` and its end; nil if there is no word that can be decoded.
    private static func word(
        at start: Int,
        in bytes: [UInt8],
        _ treatment: UndecodableTreatment
    ) -> (text: String, end: Int)? {
        let (equals, mark) = (UInt8(ascii: "="), UInt8(ascii: "?"))
        guard bytes[start] == equals, start + 1 < bytes.count, bytes[start + 1] == mark else { return nil }
        // Some programs write longer words than RFC 2047 allows. The limit keeps the search from each possible start short.
        let limit = min(start + 512, bytes.count)
        guard let charsetEnd = bytes[(start + 2)..<limit].firstIndex(of: mark), case let textStart = charsetEnd + 3,
            textStart < limit, bytes[textStart - 1] == mark
        else { return nil }
        let encoding = bytes[textStart - 2].lowercased
        guard encoding == UInt8(ascii: "b") || encoding == UInt8(ascii: "q") else { return nil }
        var end = textStart
        while end + 1 < limit, bytes[end] != UInt8(ascii: " "), bytes[end] != mark || bytes[end + 1] != equals {
            end += 1
        }
        guard end + 1 < limit, bytes[end] == mark, let decoded = decode(bytes[textStart..<end], encoding) else {
            return nil
        }
        // A language may follow the character set (RFC 2231 §5).
        let charset = String(
            decoding: bytes[(start + 2)..<charsetEnd].prefix { $0 != UInt8(ascii: "*") },
            as: UTF8.self
        )
        if let text = Charset.decode(decoded, charset: charset) { return (text, end + 2) }
        switch treatment {
        case .readAsUTF8: return (String(decoding: decoded, as: UTF8.self), end + 2)
        case .kept: return nil
        case .replaced: return (Charset.replacement(for: decoded, charset: charset), end + 2)
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>, _ encoding: UInt8) -> [UInt8]? {
        guard encoding == UInt8(ascii: "q") else { return try? Array(base64: text) }
        return PercentDecoding.decode(text, escape: UInt8(ascii: "="), underscoreIsSpace: true)
    }
}

/// Decoding of the character sets that are used in mail (RFC 2978).
enum Charset {
    /// `bytes` as text; nil if the character set is unknown or the bytes are invalid in it.
    static func decode(_ bytes: [UInt8], charset: String) -> String? {
        switch charset.lowercased() {
        case "utf-8", "utf8", "us-ascii", "": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case let name:
            guard let encoding = encoding(name) else { return nil }
            #if canImport(FoundationEssentials)
            if let known = SystemCharset.name(of: name), !SystemCharset.isFoundationPresent {
                return SystemCharset.decode(bytes, charset: known)
            }
            #endif
            return String(data: Data(bytes), encoding: encoding)
        }
    }

    /// `bytes` decoded as UTF-8 with replacement characters; nil for a character set that may not extend ASCII.
    static func readAsASCII(_ bytes: [UInt8], charset: String) -> String? {
        let others = ["utf-1", "utf-3", "utf-7", "utf7", "ucs", "iso-10646", "ibm", "cp", "hz", "ebcdic", "unicode"]
        guard !others.contains(where: charset.lowercased().hasPrefix) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The replacement for `bytes` that cannot be decoded: a single U+FFFD, except in UTF-8 and US-ASCII.
    static func replacement(for bytes: [UInt8], charset: String) -> String {
        ["utf-8", "utf8", "us-ascii"].contains(charset.lowercased())
            ? String(decoding: bytes, as: UTF8.self) : "\u{FFFD}"
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
        default: other[name].map { String.Encoding(rawValue: 0x8000_0000 | $0) }
        }
    }

    /// The numbers of further character sets that Foundation supports, from CFStringEncodingExt.h.
    private static let other: [String: UInt] = [
        "big5": 0x0A03, "cp866": 0x0419, "euc-kr": 0x0940, "gb18030": 0x0632, "gb2312": 0x0632, "gbk": 0x0632,
        "iso-8859-3": 0x0203, "iso-8859-4": 0x0204, "iso-8859-5": 0x0205, "iso-8859-6": 0x0206, "iso-8859-7": 0x0207,
        "iso-8859-8": 0x0208, "iso-8859-9": 0x0209, "iso-8859-10": 0x020A, "iso-8859-13": 0x020D,
        "iso-8859-14": 0x020E, "iso-8859-15": 0x020F, "iso-8859-16": 0x0210, "koi8-r": 0x0A02, "koi8-u": 0x0A08,
        "ks_c_5601-1987": 0x0940, "windows-1255": 0x0505, "windows-1256": 0x0506, "windows-1257": 0x0507,
        "windows-1258": 0x0508, "windows-874": 0x041D,
    ]
}

/// Bytes written as an escape character and two hexadecimal digits.
enum PercentDecoding {
    /// The bytes that `text` encodes; an escape without two digits is not changed.
    static func decode(_ text: some Collection<UInt8>, escape: UInt8, underscoreIsSpace: Bool = false) -> [UInt8] {
        let text = Array(text)
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == escape, index + 2 < text.count, let high = text[index + 1].hexadecimalValue,
                let low = text[index + 2].hexadecimalValue
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
