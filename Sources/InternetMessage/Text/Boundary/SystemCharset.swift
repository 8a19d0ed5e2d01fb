#if canImport(FoundationEssentials)
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Character sets that the C library knows, for programs without the whole of Foundation.
///
/// FoundationEssentials decodes UTF only, unless Foundation is linked as well and lends it its tables.
package enum SystemCharset {
    /// Whether Foundation, which knows all the character sets that are decoded, is part of the program.
    static let isFoundationPresent = String(data: Data([0x41]), encoding: .isoLatin2) != nil

    /// `bytes` as text; nil if the C library does not have the character set, or they are not of it.
    ///
    /// iconv(3)
    ///
    /// - Parameter charset: one of the names that `name(of:)` gives, never one that a message chose.
    package static func decode(_ bytes: [UInt8], charset: String) -> String? {
        guard let converter = iconv_open("UTF-8", charset), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        // No byte of these character sets becomes more than three of UTF-8.
        var (input, output) = (bytes.map { CChar(bitPattern: $0) }, [CChar](repeating: 0, count: bytes.count * 4 + 8))
        let (inputCount, outputCount) = (input.count, output.count)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output -> Int? in
                var (source, target) = (input.baseAddress, output.baseAddress)
                var (left, room) = (inputCount, outputCount)
                guard iconv(converter, &source, &left, &target, &room) >= 0, left == 0,
                    // A letter that an accent may follow is kept back until the end is known.
                    iconv(converter, nil, nil, &target, &room) >= 0
                else { return nil }
                return outputCount - room
            }
        }
        guard let count else { return nil }
        return String(validating: output.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What the C library calls the character set that mail calls `name`, and that Foundation would read for it.
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
