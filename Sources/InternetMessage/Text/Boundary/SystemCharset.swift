#if canImport(FoundationEssentials)
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Character sets of the C library, for programs that do not link the whole of Foundation.
///
/// FoundationEssentials decodes only UTF, unless Foundation is linked as well and provides its tables.
package enum SystemCharset {
    /// Whether Foundation, which supports all character sets needed here, is part of the program.
    static let isFoundationPresent = String(data: Data([0x41]), encoding: .isoLatin2) != nil

    /// Decodes `bytes`; nil if the C library lacks the character set, or if the bytes are invalid in it.
    ///
    /// iconv(3)
    ///
    /// - Parameter charset: a name from `name(of:)`, never one taken from a message.
    package static func decode(_ bytes: [UInt8], charset: String) -> String? {
        guard let converter = iconv_open("UTF-8", charset), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        // A byte in these character sets becomes at most three bytes of UTF-8.
        var (input, output) = (bytes.map { CChar(bitPattern: $0) }, [CChar](repeating: 0, count: bytes.count * 4 + 8))
        let (inputCount, outputCount) = (input.count, output.count)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output -> Int? in
                var (source, target) = (input.baseAddress, output.baseAddress)
                var (left, room) = (inputCount, outputCount)
                guard iconv(converter, &source, &left, &target, &room) >= 0, left == 0,
                    // Writes a letter that iconv holds back because an accent may follow it.
                    iconv(converter, nil, nil, &target, &room) >= 0
                else { return nil }
                return outputCount - room
            }
        }
        guard let count else { return nil }
        return String(validating: output.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The C library's name of the character set that mail calls `name`; nil unless Foundation would decode it as well.
    package static func name(of name: String) -> String? { names[name] }

    private static let names: [String: String] = {
        var names = Dictionary(
            uniqueKeysWithValues: (2...16).filter { ![11, 12].contains($0) }
                .map { ("iso-8859-\($0)", "ISO-8859-\($0)") } + (1250...1258).map { ("windows-\($0)", "CP\($0)") }
        )
        for (name, known) in [
            ("big5", "BIG5"), ("cp866", "IBM866"), ("euc-jp", "EUC-JP"), ("euc-kr", "EUC-KR"), ("gb18030", "GB18030"),
            ("gb2312", "GB18030"), ("gbk", "GB18030"), ("iso-2022-jp", "ISO-2022-JP"), ("koi8-r", "KOI8-R"),
            ("koi8-u", "KOI8-U"), ("ks_c_5601-1987", "EUC-KR"), ("shift_jis", "CP932"), ("windows-874", "CP874"),
        ] {
            names[name] = known
        }
        return names
    }()
}
#endif
