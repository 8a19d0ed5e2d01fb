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

    /// The committer or tagger. A commit that someone made by hand may have several, of which git shows one or the other.
    private(set) var people: [Person] = []
    /// When the commit or tag was created; nil if no line says so.
    private(set) var time: Date?

    /// The most bytes that are searched. The committer line is within them unless the commit has some 900 parents.
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
            guard let role = ["committer", "tagger"].first(where: { text.hasPrefix("\($0) ") }),
                let start = text.firstIndex(of: "<"), let last = text.lastIndex(of: ">"), start < last
            else { continue }
            people.append(Person(role: role, address: String(text[start...].dropFirst().prefix { $0 != ">" })))
            // git reads the time from the end of the line.
            let words = text[text.index(after: last)...].split(separator: " ")
            if time == nil, let seconds = words.first.flatMap({ Int($0) }), (0...Self.lastSecond).contains(seconds) {
                time = Date(timeIntervalSince1970: TimeInterval(seconds))
            }
        }
    }
}
