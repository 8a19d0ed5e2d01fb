#if canImport(FoundationEssentials)
import Foundation
import InternetMessage
import Testing

/// The decoder for programs that do not link the whole of Foundation. (These tests link it.)
@Suite struct SystemCharsetTests {
    @Test(arguments: [
        ("iso-8859-2", [0xE8], "č"), ("windows-1252", [0x80], "€"), ("koi8-r", [0xF0, 0xD2], "Пр"),
        ("gb2312", [0xB0, 0xA1], "啊"),
        ("big5", [0xA4, 0xA4], "中"), ("euc-kr", [0xB0, 0xA1], "가"), ("shift_jis", [0x82, 0xA0], "あ"),
        ("euc-jp", [0xA4, 0xA2], "あ"),
        ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"), ("cp866", [0x8F], "П"),
        ("windows-874", [0xA1], "ก"), ("windows-1255", [0xE0], "א"), ("windows-1258", [0x41], "A"),
        ("iso-8859-16", [0xA4], "€"),
    ])
    func `the C library decodes legacy character sets`(name: String, bytes: [UInt8], text: String) throws {
        let charset = try #require(SystemCharset.name(of: name))
        #expect(SystemCharset.decode(bytes, charset: charset) == text)
        #expect(SystemCharset.decode([], charset: charset) == "")
        #expect(SystemCharset.decode(Array("plain".utf8), charset: charset) == "plain")
    }

    @Test(
        arguments: [("gb2312", [0xB0]), ("euc-kr", [0xB0]), ("windows-1252", [0x81]), ("iso-8859-8", [0xA1])]
            as [(String, [UInt8])]
    )
    func `bytes outside the character set are not decoded`(name: String, bytes: [UInt8]) throws {
        #expect(SystemCharset.decode(bytes, charset: try #require(SystemCharset.name(of: name))) == nil)
    }

    @Test func `other character sets are refused`() {
        for name in ["utf-7", "utf-16", "//TRANSLIT", "", "iso-2022-cn-ext"] {
            #expect(SystemCharset.name(of: name) == nil)
        }
    }
}
#endif
