import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME

/// Who created a commit or tag, and when: its committer or tagger line, `committer NAME <ADDRESS> SECONDS ZONE`.
///
/// git: Documentation/gitformat-commit.adoc
struct GitObject {
    /// A committer or tagger as git shows them: the text between the first `<` and the next `>`, which is possibly not
    /// an address.
    struct Person {
        /// `committer` or `tagger`.
        let role: String
        let address: String

        /// Whether `certificate` names the address.
        func isNamed(in certificate: Certificate) -> Bool {
            (try? EmailAddress(address)).map { certificate.emailAddresses.contains($0) } ?? false
        }
    }

    /// The committer or tagger. A commit that was not made by git may have several. git shows only one of them.
    private(set) var people: [Person] = []
    /// When the commit or tag was created; nil if no line says so.
    private(set) var time: Date?

    /// Whether the content is a commit or tag whose committer or tagger cannot be read for certain, because no line
    /// names one, very many lines do, the header is very long, or git shows its lines in another character set.
    private(set) var isUnclear = false

    /// The maximum number of people. git shows one.
    private static let maximumPeople = 4
    /// The maximum length of a header in bytes.
    private static let headerLimit = 1 << 20
    /// The last second of the year 9999. Later times cannot be written in a certificate.
    private static let lastSecond = 253_402_300_799
    /// The beginnings of the names of character sets in which the bytes of `<`, `>` and the line feed always stand for these
    /// characters. Many code pages (`cp…`) are EBCDIC, in which they do not.
    private static let usualCharsets =
        ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso8859", "windows-", "koi8-", "euc", "big5"]
        + ["gb18030", "gbk", "gb2312", "shift_jis", "shift-jis", "sjis"] + (1...9).map { "latin\($0)" }
        + ["cp125", "cp437", "cp85", "cp866", "cp874", "cp932", "cp936", "cp949", "cp950"]

    /// Reads the header of the object in `content`. Content without a committer or tagger line has neither address nor
    /// time.
    init(_ content: any ByteSource) throws {
        let bytes = try content.bytes(in: 0..<min(content.count, Self.headerLimit))
        var isEnded = content.count <= Self.headerLimit
        var isUsual = true
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            // An empty line ends the header; what follows is the author's text.
            guard !line.isEmpty else {
                isEnded = true
                break
            }
            if let name = Self.value(of: "encoding", in: line) {
                let name = String(decoding: name, as: UTF8.self).lowercased()
                isUsual = isUsual && Self.usualCharsets.contains { name.hasPrefix($0) }
            }
            for role in ["committer", "tagger"] { Self.value(of: role, in: line).map { add($0, as: role) } }
        }
        let isObject = bytes.starts(with: "tree ".utf8) || bytes.starts(with: "object ".utf8)
        isUnclear = isObject && (people.isEmpty || people.count > Self.maximumPeople || !isEnded || !isUsual)
        people = Array(people.prefix(Self.maximumPeople))
    }

    /// The text after `name` and a space at the start of `line`. Bytes are compared, because Swift joins a space and a mark
    /// after it to one character.
    private static func value(of name: String, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        line.starts(with: "\(name) ".utf8) ? line.dropFirst(name.utf8.count + 1) : nil
    }

    private mutating func add(_ text: ArraySlice<UInt8>, as role: String) {
        guard let start = text.firstIndex(of: UInt8(ascii: "<")), let last = text.lastIndex(of: UInt8(ascii: ">")),
            start < last
        else { return }
        let address = text[start...].dropFirst().prefix { $0 != UInt8(ascii: ">") }
        people.append(Person(role: role, address: String(decoding: address, as: UTF8.self)))
        // git searches for the last `>` from the end of the line, and reads the time after it.
        let words = text[last...].dropFirst().split(separator: UInt8(ascii: " "))
        let seconds = words.first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        if time == nil, let seconds, (0...Self.lastSecond).contains(seconds) {
            time = Date(timeIntervalSince1970: TimeInterval(seconds))
        }
    }
}
