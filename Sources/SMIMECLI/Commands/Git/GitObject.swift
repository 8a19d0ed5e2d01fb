import ByteStreams
import Foundation
import InternetMessage

/// Who created a commit or tag, and when: its committer or tagger line, `committer NAME <ADDRESS> SECONDS ZONE`.
///
/// git: Documentation/gitformat-commit.adoc
struct GitObject {
    /// The address of the committer or tagger; nil if there is none, or it is not an address.
    private(set) var address: EmailAddress?
    /// When the commit or tag was created; nil if no line says so.
    private(set) var time: Date?

    /// The most bytes that are searched. Only a commit with a thousand parents has a longer header.
    private static let headerLimit = 65_536
    /// The last second of the year 9999. Later times cannot be written in a certificate.
    private static let lastSecond = 253_402_300_799

    /// Reads the header of the object in `content`. Other content has neither address nor time.
    init(_ content: any ByteSource) throws {
        let bytes = try content.bytes(in: 0..<min(content.count, Self.headerLimit))
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            // An empty line ends the header; what follows is the author's text.
            guard !line.isEmpty else { return }
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("committer ") || text.hasPrefix("tagger ") else { continue }
            guard let start = text.lastIndex(of: "<"), let end = text.lastIndex(of: ">"), start < end else { return }
            address = try? EmailAddress(String(text[text.index(after: start)..<end]))
            let words = text[text.index(after: end)...].split(separator: " ")
            if let seconds = words.first.flatMap({ Int($0) }), (0...Self.lastSecond).contains(seconds) {
                time = Date(timeIntervalSince1970: TimeInterval(seconds))
            }
            return
        }
    }
}
